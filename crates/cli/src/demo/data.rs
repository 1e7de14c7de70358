//! The tables of the demo, made from the bundled records.

use super::folder::Folder;
use super::recipe::{Recipe, SPLIT_KEY, TEST_SHARE, WIDE};
use crate::explain::Code;
use crate::fail::Fail;
use reticent::curator::Session;
use reticent::curator::audit::coins;
use reticent::data::bundled::{ADULT, ADULT_SCHEMA, adult};
use reticent::data::{Cell, DataError, Split, SplitSide, write_csv_atomic};

/// The column of the statistic.
pub(super) const COLUMN: &str = "age";
const LABEL: (&str, &str) = ("income", ">50K");

/// Facts about the tables.
pub(super) struct Data {
    pub(super) rows: u64,
    pub(super) training_rows: u64,
    pub(super) test_rows: u64,
    /// The share of the larger class among the test rows.
    pub(super) majority: f64,
    /// The exact mean of the statistic's column.
    pub(super) mean: f64,
    /// Records that the coins chose.
    pub(super) members: u64,
}

/// Fields of a row.
type Line = Vec<String>;

/// Writes all tables, the schema and the settings.
pub(super) fn write(folder: &Folder, recipe: &Recipe) -> Result<Data, Fail> {
    let (table, _) = adult()?;
    folder.write("data/adult.parquet", ADULT)?;
    folder.write("data/schema.toml", ADULT_SCHEMA.as_bytes())?;
    folder.write("data/wide.toml", WIDE.as_bytes())?;
    for (name, about) in
        [("overfitted", "trained too long without privacy"), ("twin", "trained with differential privacy")]
    {
        folder.write(&format!("data/{name}.toml"), declared(name, about).as_bytes())?;
    }
    let names: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
    let split = Split::new(SPLIT_KEY, TEST_SHARE)?;
    let place = |name: &str| names.iter().position(|known| *known == name);
    let (Some(age), Some(label)) = (place(COLUMN), place(LABEL.0)) else {
        return Err(Fail::new(Code::Internal, "a column is missing in the bundled table: please report it"));
    };
    let (mut train, mut test, mut coined): (Vec<Line>, Vec<Line>, Vec<Line>) = Default::default();
    let (mut rows, mut sum, mut positive) = (0u64, 0.0, 0u64);
    table.scan(&names, &mut |_| {}, &mut |row, cells: &[Cell<'_>]| {
        let line: Line = cells.iter().map(|cell| cell.csv_text().into_owned()).collect();
        rows = row;
        sum += cells[age].number_at(COLUMN, row)?.map_or(0.0, |number| number.to_f64());
        if coined.len() < recipe.records {
            coined.push(line.clone());
        }
        match split.row(names.iter().copied().zip(cells)) {
            SplitSide::Train => train.push(line),
            SplitSide::Test => {
                positive += u64::from(cells[label].label().is_some_and(|label| label == LABEL.1));
                test.push(line);
            }
        }
        Ok::<(), DataError>(())
    })?;
    // An independent fair coin for each record: the premise of the lower bounds.
    let tossed = coins(coined.len(), &mut Session::without_limit()?);
    let (mut members, mut others): (Vec<Line>, Vec<Line>) = Default::default();
    for (line, is_in) in coined.into_iter().zip(tossed) {
        if is_in { &mut members } else { &mut others }.push(line);
    }
    let (test_rows, members_count) = (test.len() as u64, members.len() as u64);
    let training_rows = train.len() as u64;
    for (name, lines) in [("train", train), ("test", test), ("members", members), ("others", others)] {
        write_csv_atomic(&folder.path(&format!("data/{name}.csv")), &names, lines)?;
    }
    let share = positive as f64 / test_rows.max(1) as f64;
    Ok(Data {
        rows,
        training_rows,
        test_rows,
        majority: share.max(1.0 - share),
        mean: sum / rows.max(1) as f64,
        members: members_count,
    })
}

/// Declared facts for a report.
fn declared(name: &str, about: &str) -> String {
    format!(
        "title = \"The demo's {name} model\"\nmodel = \"{name}\"\npurpose = \"A demonstration: {about}\"\n\
         sensitivity = \"Public census extract of 1994, no person's data of today\"\nauthor = \"reticent demo\"\n"
    )
}
