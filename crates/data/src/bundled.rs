//! The bundled dataset: UCI Adult's training records, with a public schema.
//!
//! `adult/README.md`, beside this crate's manifest, states its origin (CC BY 4.0, Becker and Kohavi 1996); the schema states the
//! documents from which its bounds and categories were taken.

use crate::error::DataError;
use crate::schema::Schema;
use crate::table::{Table, bundled_parquet};
use std::sync::Arc;

/// The schema as a file, for users to look at and change.
pub const ADULT_SCHEMA: &str = include_str!("../adult/schema.toml");

/// The records as a Parquet file, for users to look at.
pub const ADULT: &[u8] = include_bytes!("../adult/adult.parquet");

/// The 32,561 training records of UCI Adult, and their schema.
///
/// # Errors
/// None that a user can cause: the bytes are compiled in.
pub fn adult() -> Result<(Arc<dyn Table>, Schema), DataError> {
    let schema = Schema::parse(ADULT_SCHEMA, "bundled adult schema")?;
    Ok((bundled_parquet("bundled adult", ADULT)?, schema))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoder, open_table};

    #[test]
    fn adult_is_whole_and_fits_its_schema() {
        let (table, schema) = adult().unwrap();
        let (design, tally) = Encoder::new(&schema).unwrap().encode(&table, &mut |_| {}).unwrap();
        assert_eq!((design.rows(), design.dimension()), (32_561, 125));
        let positive = design.labels().iter().filter(|label| **label > 0.0).count();
        assert_eq!(positive, 7841);
        assert!(tally.columns.iter().all(|column| column.outside == 0));
        // The same rows as the file.
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/adult/adult.parquet");
        let file = open_table(path.as_ref()).unwrap();
        assert_eq!(file.columns(), table.columns());
        assert_eq!(Encoder::new(&schema).unwrap().encode(&file, &mut |_| {}).unwrap().0, design);
    }
}
