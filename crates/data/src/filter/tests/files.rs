//! Filters and derived columns on a file, as the page about them shows.

use super::*;
use crate::table::{Reading, open_table_with};

const VISITS: &str = "patient,sex,weight,height,arrived,left,ward
1,f,61,1.70,2013-05-01,2013-05-03,A
2,m,80,1.82,2013-05-02,2013-05-09,B
3,f,,1.65,2013-06-11,2013-06-11,A
4,m,95,1.79,2013-06-30,,B
5,f,70,0,2013-07-04,2013-07-05,A and B
";

/// The patients that a filter selects, or why it is refused.
fn patients(filter: &str) -> Result<Vec<String>, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("visits.csv");
    std::fs::write(&path, VISITS).unwrap();
    let derive = ["bmi = weight / (height*height) in 10,60", "stay = left - arrived in 0,60"];
    let reading = Reading { derive: derive.map(str::to_owned).to_vec(), ..Reading::default() };
    let table = open_table_with(&path, &reading)?;
    let filter = Predicate::parse(filter)?.check(&table)?;
    let mut columns: Vec<&str> = filter.columns().iter().map(String::as_str).collect();
    columns.push("patient");
    let mut found = Vec::new();
    table.scan_batches(&columns, &mut |_| {}, &mut |batch| {
        let mask = filter.mask(batch);
        for row in 0..batch.rows() {
            let cells: Vec<Cell<'_>> = (0..columns.len()).map(|column| batch.cell(row, column)).collect();
            assert_eq!(mask.contains(row), filter.matches(&cells));
            if mask.contains(row) {
                found.extend(cells[columns.len() - 1].label().map(|label| label.into_owned()));
            }
        }
        Ok::<(), DataError>(())
    })?;
    Ok(found)
}

#[test]
fn a_csv_file_is_filtered() {
    for (filter, expected) in [
        ("sex = m or arrived >= 2013-06-01 and left is not missing", "2345"),
        ("month(arrived) < 7", "1234"),
        ("left - arrived > 1", "12"),
        ("not (left - arrived > 1)", "35"),
        ("stay <= 1 or stay is missing", "345"),
        ("bmi is missing", "35"),
        ("bmi between 20 and 25", "12"),
        ("weight > 60 and not ward in (A, 'A and B')", "24"),
        ("weight != 61", "245"),
        ("arrived = `left`", "3"),
        ("arrived + 1 >= left", "35"),
        ("weekday(arrived) = 3 and year(arrived) = 2013", "1"),
        ("height > 1.7 and ward = B", "24"),
        ("weight < weight * height", "124"),
    ] {
        assert_eq!(patients(filter).unwrap().concat(), expected, "{filter}");
    }
}

#[test]
fn refusals_about_a_csv_file_say_what_to_write() {
    let refusal = |filter: &str| patients(filter).unwrap_err().to_string();
    assert_eq!(
        refusal("arrived = left"),
        "filter \"arrived = left\": \"left\" is a value here, and the table has columns of that name: \
         write 'left' for the value, or `left` for what the columns hold"
    );
    assert!(refusal("wieght > 60").contains("(did you mean \"weight\"?)"));
    assert!(refusal("ward = NA").contains("write `ward` is missing"));
}
