//! Several files as one table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::{BatchReader, ColumnInfo, Reading, Table};
use crate::error::{DataError, shown};

/// Tables of the same columns, one after the other. Their columns may come in different orders.
#[derive(Clone, Debug)]
pub(super) struct UnionTable {
    /// The path as given.
    path: PathBuf,
    name: String,
    parts: Vec<Part>,
    missing: Vec<String>,
}

#[derive(Clone, Debug)]
struct Part {
    table: Arc<dyn Table>,
    /// Where the columns of the first table are in this one.
    places: Vec<usize>,
}

impl UnionTable {
    /// One table of at least one; `name` is its name in messages.
    ///
    /// # Errors
    /// If their columns differ: the error names the file and the column.
    pub(super) fn new(path: &Path, name: String, tables: Vec<Arc<dyn Table>>) -> Result<Self, DataError> {
        let mut parts: Vec<Part> = Vec::new();
        for table in tables {
            let places = match parts.first() {
                None => (0..table.columns().len()).collect(),
                Some(first) => places(&*first.table, &*table)?,
            };
            parts.push(Part { table, places });
        }
        let mut missing: Vec<String> = Vec::new();
        for marker in parts.iter().flat_map(|part| part.table.missing()) {
            if !missing.contains(marker) {
                missing.push(marker.clone());
            }
        }
        Ok(Self { path: path.to_owned(), name, parts, missing })
    }
}

/// Where the columns of `first` are in `table`.
fn places(first: &dyn Table, table: &dyn Table) -> Result<Vec<usize>, DataError> {
    let differ = |column: &str, problem: String| DataError::DifferentColumns {
        file: table.name().to_owned(),
        column: shown(column),
        problem,
    };
    let name = first.name();
    let find = |column: &ColumnInfo| {
        let place = table.columns().iter().position(|own| own.name == column.name);
        let place = place.ok_or_else(|| differ(&column.name, format!("is missing, and {name} has it")))?;
        let kind = &table.columns()[place].kind;
        if *kind != column.kind || table.declares_kinds() != first.declares_kinds() {
            let words = |table: &dyn Table, column: &ColumnInfo| match table.declares_kinds() {
                true => column.kind.to_string(),
                false => "CSV text".to_owned(),
            };
            let (own, other) = (words(table, &table.columns()[place]), words(first, column));
            return Err(differ(&column.name, format!("holds {own} values, and in {name} {other} values")));
        }
        Ok(place)
    };
    let places = first.columns().iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let extra = table.columns().iter().enumerate().find(|(place, _)| !places.contains(place));
    match extra {
        Some((_, column)) => Err(differ(&column.name, format!("is not in {name}"))),
        None => Ok(places),
    }
}

impl Table for UnionTable {
    fn name(&self) -> &str {
        &self.name
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn files(&self) -> Vec<PathBuf> {
        self.parts.iter().flat_map(|part| part.table.files()).collect()
    }

    fn columns(&self) -> &[ColumnInfo] {
        self.parts.first().map_or(&[], |part| part.table.columns())
    }

    fn declares_kinds(&self) -> bool {
        self.parts.iter().all(|part| part.table.declares_kinds())
    }

    fn missing(&self) -> &[String] {
        &self.missing
    }

    fn reading(&self) -> Reading {
        self.parts.first().map(|part| part.table.reading()).unwrap_or_default()
    }

    fn literal(&self, column: usize) -> Option<Arc<dyn Table>> {
        let changed: Vec<Option<Arc<dyn Table>>> =
            self.parts.iter().map(|part| part.table.literal(part.places[column])).collect();
        if changed.iter().all(Option::is_none) {
            return None;
        }
        let parts = self.parts.iter().zip(changed).map(|(part, changed)| Part {
            table: changed.unwrap_or_else(|| part.table.clone()),
            places: part.places.clone(),
        });
        Some(Arc::new(Self { parts: parts.collect(), ..self.clone() }))
    }

    fn is_literal(&self, column: usize) -> bool {
        self.parts.iter().all(|part| part.table.is_literal(part.places[column]))
    }

    fn size_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.table.size_bytes()).sum()
    }

    fn stated_rows(&self) -> Option<u64> {
        self.parts.iter().map(|part| part.table.stated_rows()).sum()
    }

    /// The parts of all files, where the rows of the files before a part are known.
    fn parts(&self) -> usize {
        match self.stated_rows() {
            Some(_) => self.parts.iter().map(|part| part.table.parts()).sum(),
            None => 1,
        }
    }

    fn part(&self, columns: &[usize], mut number: usize) -> Result<Box<dyn BatchReader + '_>, DataError> {
        if self.stated_rows().is_none() {
            return self.batches(columns);
        }
        let mut rows_before = 0;
        for part in &self.parts {
            if number < part.table.parts() {
                let (rising, order) = part.order(columns);
                let reader = part.table.part(&rising, number)?;
                return Ok(Box::new(PartBatches { name: &self.name, reader, order, rows_before }));
            }
            number -= part.table.parts();
            rows_before += part.table.stated_rows().unwrap_or(0);
        }
        // There is no such part.
        Ok(Box::new(UnionBatches {
            table: self,
            columns: Vec::new(),
            next: self.parts.len(),
            current: None,
            before: 0,
        }))
    }

    fn batches(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>, DataError> {
        Ok(Box::new(UnionBatches {
            table: self,
            columns: columns.to_vec(),
            next: 0,
            current: None,
            before: 0,
        }))
    }
}

struct UnionBatches<'a> {
    table: &'a UnionTable,
    columns: Vec<usize>,
    /// The part after the current one.
    next: usize,
    current: Option<Current<'a>>,
    /// The sizes of the parts before the current one.
    before: u64,
}

struct Current<'a> {
    reader: Box<dyn BatchReader + 'a>,
    size_bytes: u64,
    /// The order in which the columns are asked for; `None` if they come so.
    order: Option<Vec<usize>>,
}

impl Part {
    /// The positions of the columns in this table in rising order, and the order in which they are asked for; `None` if they come so.
    fn order(&self, columns: &[usize]) -> (Vec<usize>, Option<Vec<usize>>) {
        let wanted: Vec<usize> = columns.iter().map(|column| self.places[*column]).collect();
        let mut rising = wanted.clone();
        rising.sort_unstable();
        // Every column is at one place.
        let order: Vec<usize> =
            wanted.iter().map(|place| rising.partition_point(|own| own < place)).collect();
        let order = (!order.is_sorted()).then_some(order);
        (rising, order)
    }
}

/// A batch with its columns in the order in which they are asked for.
fn ordered(name: &str, batch: RecordBatch, order: Option<&Vec<usize>>) -> Result<RecordBatch, DataError> {
    match order {
        None => Ok(batch),
        Some(order) => {
            batch.project(order).map_err(|error| DataError::malformed(name, "table", &error.to_string()))
        }
    }
}

impl BatchReader for UnionBatches<'_> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        loop {
            if self.current.is_none() {
                let table = self.table;
                let Some(part) = table.parts.get(self.next) else { return Ok(None) };
                let (rising, order) = part.order(&self.columns);
                let (reader, size_bytes) = (part.table.batches(&rising)?, part.table.size_bytes());
                self.current = Some(Current { reader, size_bytes, order });
                self.next += 1;
            }
            let Some(current) = &mut self.current else { return Ok(None) };
            if let Some(batch) = current.reader.next_batch()? {
                return ordered(&self.table.name, batch, current.order.as_ref()).map(Some);
            }
            self.before += current.size_bytes;
            self.current = None;
        }
    }

    fn bytes_read(&self) -> u64 {
        self.before + self.current.as_ref().map_or(0, |current| current.reader.bytes_read())
    }
}

/// The batches of a part of one of the tables.
struct PartBatches<'a> {
    name: &'a str,
    reader: Box<dyn BatchReader + 'a>,
    order: Option<Vec<usize>>,
    rows_before: u64,
}

impl BatchReader for PartBatches<'_> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let next = self.reader.next_batch()?;
        next.map(|batch| ordered(self.name, batch, self.order.as_ref())).transpose()
    }

    fn bytes_read(&self) -> u64 {
        self.reader.bytes_read()
    }

    fn rows_before(&self) -> u64 {
        self.rows_before + self.reader.rows_before()
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int64Array, StringArray};

    use crate::fixture::{Folder, Kept, array, read_rows, text};
    use std::sync::Arc;

    use crate::{DataError, Quoting, Reading, Table, open_table_with, with_derived, with_literal};

    fn also(folder: &Folder, names: &[&str]) -> Reading {
        Reading { also: names.iter().map(|name| folder.path(name)).collect(), ..Reading::default() }
    }

    #[test]
    fn files_are_read_one_after_the_other() {
        let folder = Folder::new();
        let first = folder.file("v-1.csv", "a,b\n1,x\n2,y\n");
        folder.file("v-2.csv", "b;a\nz;3\n");
        folder.file("v-3.tsv", "a\tb\n");
        let expected = [[text("1"), text("x")], [text("2"), text("y")], [text("3"), text("z")]];
        let table = open_table_with(&first, &also(&folder, &["v-2.csv", "v-3.tsv"])).unwrap();
        assert_eq!(read_rows(&table, &["a", "b"]).unwrap().0, expected);
        assert_eq!(table.files().len(), 3);
        let table = open_table_with(&folder.path("v-*.?sv"), &Reading::default()).unwrap();
        assert_eq!(read_rows(&table, &["a", "b"]).unwrap().0, expected);
        assert_eq!(read_rows(&table, &["b"]).unwrap().0, [[text("x")], [text("y")], [text("z")]]);
        assert_eq!(read_rows(&table, &[]).unwrap().1.rows, 3);
        assert_eq!(table.missing(), ["NA", "N/A", "null"]);
    }

    #[test]
    fn a_folder_of_parquet_files_is_a_table() {
        let folder = Folder::new();
        std::fs::create_dir(folder.path("visits")).unwrap();
        let columns = |id: i64| {
            vec![("id", array(Int64Array::from(vec![id]))), ("t", array(StringArray::from(vec!["x"])))]
        };
        for id in 0..3 {
            folder.parquet(&format!("visits/part-{id}.parquet"), columns(id));
        }
        let table = open_table_with(&folder.path("visits"), &Reading::default()).unwrap();
        assert_eq!(table.stated_rows(), Some(3));
        let expected: Vec<Vec<Kept>> = (0..3).map(|id| vec![Kept::Integer(id)]).collect();
        assert_eq!(read_rows(&table, &["id"]).unwrap().0, expected);
        assert!(table.missing().is_empty());
        assert_eq!(table.parts(), 3);
        for part in 0..3 {
            let mut reader = table.part(&[0], part).unwrap();
            assert_eq!(reader.rows_before(), part as u64);
            assert_eq!(reader.next_batch().unwrap().unwrap().num_rows(), 1);
        }
    }

    #[test]
    fn other_columns_are_named_with_their_file() {
        let folder = Folder::new();
        folder.file("a.csv", "id,age\n");
        folder.file("b.csv", "id,agee\n");
        folder.file("c.csv", "id,age,sex\n");
        folder.parquet(
            "d.parquet",
            vec![("id", array(Int64Array::from(vec![1]))), ("age", array(Int64Array::from(vec![1])))],
        );
        folder.parquet(
            "e.parquet",
            vec![("id", array(Int64Array::from(vec![1]))), ("age", array(StringArray::from(vec![""])))],
        );
        let error = |first: &str, second: &str| {
            folder.message(open_table_with(&folder.path(first), &also(&folder, &[second])).unwrap_err())
        };
        let end = ": files that are read as one table need the same columns";
        let expected = format!("b.csv: column \"age\" is missing, and a.csv has it{end}");
        assert_eq!(error("a.csv", "b.csv"), expected);
        assert!(error("a.csv", "c.csv").starts_with("c.csv: column \"sex\" is not in "));
        assert!(
            error("a.csv", "d.parquet").starts_with("d.parquet: column \"id\" holds integer values, and in ")
        );
        assert!(
            error("d.parquet", "e.parquet")
                .starts_with("e.parquet: column \"age\" holds text values, and in ")
        );
        assert!(error("a.csv", "no.csv").starts_with("no.csv: no such file"));
    }

    /// A row of a file that is read twice would move an answer twice as far as its noise allows for.
    #[test]
    fn a_file_is_read_once() {
        let folder = Folder::new();
        std::fs::create_dir(folder.path("v")).unwrap();
        let first = folder.file("v/a.csv", "id\n1\n");
        folder.file("v/b.csv", "id\n2\n");
        let mut others = vec!["v/a.csv", "v/../v/a.csv", "v/*.csv"];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&first, folder.path("link.csv")).unwrap();
            std::os::unix::fs::symlink(folder.path("v"), folder.path("w")).unwrap();
            std::fs::hard_link(&first, folder.path("hard.csv")).unwrap();
            others.extend(["link.csv", "w/a.csv", "hard.csv"]);
        }
        for other in others {
            let error = open_table_with(&first, &also(&folder, &[other])).unwrap_err();
            assert!(matches!(error, DataError::SameFile { .. }), "{other}: {error}");
            assert!(error.to_string().contains("name each file once"), "{error}");
        }
        // A copy cannot be told from other data.
        std::fs::copy(&first, folder.path("copy.csv")).unwrap();
        open_table_with(&first, &also(&folder, &["v/b.csv", "copy.csv"])).unwrap();
        let glob = open_table_with(&folder.path("v/*.csv"), &also(&folder, &["v/a.csv"])).unwrap_err();
        assert!(matches!(glob, DataError::SameFile { .. }), "{glob}");
    }

    #[test]
    fn a_column_of_names_is_read_literally() {
        let folder = Folder::new();
        let first = folder.file("a.csv", "id,x\nNA,NA\n,1\n");
        folder.file("b.csv", "x;id\nnull;null\n");
        let table = open_table_with(&first, &also(&folder, &["b.csv"])).unwrap();
        let derived = Reading { derive: vec!["y = x in 0,9".into()], ..Reading::default() };
        let table = with_derived(table, &derived).unwrap();
        let literal = with_literal(table.clone(), "id").unwrap();
        let ids = |table: &Arc<dyn Table>| read_rows(table, &["id"]).unwrap().0.concat();
        assert_eq!(ids(&table), [Kept::Null, Kept::Null, Kept::Null]);
        assert_eq!(ids(&literal), [text("NA"), Kept::Null, text("null")]);
        assert_eq!(read_rows(&literal, &["x"]).unwrap().0.concat(), [Kept::Null, text("1"), Kept::Null]);
        assert!(literal.check_values("id", &["NA".to_owned()]).is_ok());
        assert!(literal.check_values("x", &["NA".to_owned()]).is_err());
        assert!(literal.literal(0).is_none() && literal.derivations().len() == 1);
        assert!(with_literal(literal, "z").is_err());
    }

    #[test]
    fn a_table_knows_how_it_is_read() {
        let folder = Folder::new();
        let first = folder.file("a.csv", "id|x\n1|2\n");
        let usual = Some(["NA", "N/A", "null"].map(str::to_owned).to_vec());
        let plain = Reading {
            quoting: Some(Quoting::Double),
            missing: usual,
            encoding: Some("utf-8".into()),
            derive: vec!["y = x in 0,9".into()],
            ..Reading::default()
        };
        assert!(open_table_with(&first, &plain).unwrap().reading().is_default());
        let other = Reading { separator: Some('|'), missing: Some(Vec::new()), ..Reading::default() };
        assert_eq!(open_table_with(&first, &other).unwrap().reading(), other);
    }
}
