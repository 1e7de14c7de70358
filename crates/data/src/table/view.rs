//! An Arrow array read cell by cell.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

use arrow_array::{Array, BooleanArray, LargeStringArray, PrimitiveArray, StringArray, StringViewArray};
use arrow_schema::{DataType, TimeUnit};

use super::codes::Codes;
use crate::cell::{Cell, DAY_MILLISECONDS};
use std::collections::BTreeMap;

/// An array of a type that has cells.
pub(crate) enum View<'a> {
    Null,
    Int8(&'a PrimitiveArray<Int8Type>),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a PrimitiveArray<Int32Type>),
    Int64(&'a PrimitiveArray<Int64Type>),
    UInt8(&'a PrimitiveArray<UInt8Type>),
    UInt16(&'a PrimitiveArray<UInt16Type>),
    UInt32(&'a PrimitiveArray<UInt32Type>),
    /// With the digits of those that are too large for a signed integer: they are read like the same digits in a CSV file.
    UInt64(&'a PrimitiveArray<UInt64Type>, BTreeMap<usize, String>),
    Float32(&'a PrimitiveArray<Float32Type>),
    Float64(&'a PrimitiveArray<Float64Type>),
    Utf8(&'a StringArray),
    LargeUtf8(&'a LargeStringArray),
    ViewedUtf8(&'a StringViewArray),
    Boolean(&'a BooleanArray),
    Date32(&'a PrimitiveArray<Date32Type>),
    Date64(&'a PrimitiveArray<Date64Type>),
    Seconds(&'a PrimitiveArray<TimestampSecondType>),
    Milliseconds(&'a PrimitiveArray<TimestampMillisecondType>),
    Microseconds(&'a PrimitiveArray<TimestampMicrosecondType>),
    Nanoseconds(&'a PrimitiveArray<TimestampNanosecondType>),
    Dictionary(Codes<'a>),
}

impl<'a> View<'a> {
    /// A view of the array; `None` if its type has no cells.
    pub(crate) fn new(array: &'a dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Null => View::Null,
            DataType::Int8 => View::Int8(array.as_primitive_opt()?),
            DataType::Int16 => View::Int16(array.as_primitive_opt()?),
            DataType::Int32 => View::Int32(array.as_primitive_opt()?),
            DataType::Int64 => View::Int64(array.as_primitive_opt()?),
            DataType::UInt8 => View::UInt8(array.as_primitive_opt()?),
            DataType::UInt16 => View::UInt16(array.as_primitive_opt()?),
            DataType::UInt32 => View::UInt32(array.as_primitive_opt()?),
            DataType::UInt64 => {
                let array: &PrimitiveArray<UInt64Type> = array.as_primitive_opt()?;
                let large = |(row, value): (usize, Option<u64>)| {
                    let value = value.filter(|value| i64::try_from(*value).is_err())?;
                    Some((row, value.to_string()))
                };
                View::UInt64(array, array.iter().enumerate().filter_map(large).collect())
            }
            DataType::Float32 => View::Float32(array.as_primitive_opt()?),
            DataType::Float64 => View::Float64(array.as_primitive_opt()?),
            DataType::Utf8 => View::Utf8(array.as_string_opt()?),
            DataType::LargeUtf8 => View::LargeUtf8(array.as_string_opt()?),
            DataType::Utf8View => View::ViewedUtf8(array.as_string_view_opt()?),
            DataType::Boolean => View::Boolean(array.as_boolean_opt()?),
            DataType::Date32 => View::Date32(array.as_primitive_opt()?),
            DataType::Date64 => View::Date64(array.as_primitive_opt()?),
            DataType::Timestamp(TimeUnit::Second, _) => View::Seconds(array.as_primitive_opt()?),
            DataType::Timestamp(TimeUnit::Millisecond, _) => View::Milliseconds(array.as_primitive_opt()?),
            DataType::Timestamp(TimeUnit::Microsecond, _) => View::Microseconds(array.as_primitive_opt()?),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => View::Nanoseconds(array.as_primitive_opt()?),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary_opt()?;
                if dictionary.values().is_empty() {
                    return Some(View::Null);
                }
                View::Dictionary(Codes::new(dictionary)?)
            }
            _ => return None,
        })
    }

    /// The cell in a row that the array has.
    pub(crate) fn cell(&self, row: usize) -> Cell<'_> {
        macro_rules! cell {
            ($array:expr, $make:expr) => {
                if $array.is_null(row) { Cell::Null } else { $make($array.value(row)) }
            };
        }
        match self {
            View::Null => Cell::Null,
            View::Int8(array) => cell!(array, |value| Cell::Integer(i64::from(value))),
            View::Int16(array) => cell!(array, |value| Cell::Integer(i64::from(value))),
            View::Int32(array) => cell!(array, |value| Cell::Integer(i64::from(value))),
            View::Int64(array) => cell!(array, Cell::Integer),
            View::UInt8(array) => cell!(array, |value| Cell::Integer(i64::from(value))),
            View::UInt16(array) => cell!(array, |value| Cell::Integer(i64::from(value))),
            View::UInt32(array) => cell!(array, |value| Cell::Integer(i64::from(value))),
            View::UInt64(array, _) if array.is_null(row) => Cell::Null,
            View::UInt64(array, large) => match i64::try_from(array.value(row)) {
                Ok(value) => Cell::Integer(value),
                Err(_) => large.get(&row).map_or(Cell::Null, |digits| Cell::from_text(digits)),
            },
            View::Float32(array) => cell!(array, |value| Cell::Float(f64::from(value))),
            View::Float64(array) => cell!(array, Cell::Float),
            View::Utf8(array) => cell!(array, Cell::from_text),
            View::LargeUtf8(array) => cell!(array, Cell::from_text),
            View::ViewedUtf8(array) => cell!(array, Cell::from_text),
            View::Boolean(array) => cell!(array, Cell::Boolean),
            View::Date32(array) => cell!(array, Cell::Date),
            View::Date64(array) => cell!(array, |value| Cell::Date(whole_days(value))),
            // What does not fit 64 bits of microseconds is some 292,000 years away: the ends stand for it.
            View::Seconds(array) => {
                cell!(array, |value: i64| Cell::Timestamp(value.saturating_mul(1_000_000)))
            }
            View::Milliseconds(array) => {
                cell!(array, |value: i64| Cell::Timestamp(value.saturating_mul(1000)))
            }
            View::Microseconds(array) => cell!(array, Cell::Timestamp),
            View::Nanoseconds(array) => cell!(array, |value: i64| Cell::Timestamp(value.div_euclid(1000))),
            View::Dictionary(codes) => codes.cell(row),
        }
    }
}

/// The day of a time in milliseconds since 1970; the ends of the calendar stand for what lies beyond them.
fn whole_days(milliseconds: i64) -> i32 {
    let days = milliseconds.div_euclid(DAY_MILLISECONDS);
    i32::try_from(days).unwrap_or(if days < 0 { i32::MIN } else { i32::MAX })
}
