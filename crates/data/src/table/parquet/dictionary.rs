//! Text columns whose pages are dictionary-encoded are read with their dictionary, so that each of its entries is looked at once.

use std::sync::Arc;

use arrow_schema::{DataType, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Encoding;
use parquet::file::metadata::ColumnChunkMetaData;

/// The same metadata with the dictionaries of text columns kept where every page uses them. What is read stays the same.
pub(super) fn kept(metadata: ArrowReaderMetadata) -> ArrowReaderMetadata {
    let leaves = metadata.parquet_schema();
    let is_coded = |root: usize| {
        let own: Vec<usize> =
            (0..leaves.num_columns()).filter(|leaf| leaves.get_column_root_idx(*leaf) == root).collect();
        let mut groups = metadata.metadata().row_groups().iter();
        own.len() == 1 && groups.all(|group| group.columns().get(own[0]).is_some_and(has_codes_only))
    };
    let fields = metadata.schema().fields().iter().enumerate().map(|(root, field)| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if is_coded(root) => {
            let values = match field.data_type() {
                DataType::LargeUtf8 => DataType::LargeUtf8,
                _ => DataType::Utf8,
            };
            let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(values));
            Arc::new(field.as_ref().clone().with_data_type(coded))
        }
        _ => Arc::clone(field),
    });
    let fields: Vec<_> = fields.collect();
    if fields.iter().zip(metadata.schema().fields()).all(|(new, old)| new == old) {
        return metadata;
    }
    let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).unwrap_or(metadata)
}

/// Whether the footer says that all data pages of a column are dictionary-encoded. Where it does not say so for certain, they
/// are read as plain text.
fn has_codes_only(chunk: &ColumnChunkMetaData) -> bool {
    let is_code = |encoding: Encoding| {
        #[expect(deprecated, reason = "older writers still use both")]
        let old = matches!(encoding, Encoding::PLAIN_DICTIONARY | Encoding::BIT_PACKED);
        old || matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::RLE)
    };
    chunk.dictionary_page_offset().is_some()
        && match chunk.page_encoding_stats_mask() {
            Some(pages) => pages.encodings().all(is_code),
            None => chunk.encodings().all(is_code),
        }
}
