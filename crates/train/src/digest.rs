//! Short names for contents. They find accidents, not forgers.

use serde::Serialize;
use serde_json::Value;

const PRIME: u64 = 0x0000_0100_0000_01b3;
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// A 64-bit checksum: FNV-1a over words of 8 bytes, with the length and a last mixing.
pub fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = BASIS ^ bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let mut whole = [0u8; 8];
        whole.copy_from_slice(word);
        sum = (sum ^ u64::from_le_bytes(whole)).wrapping_mul(PRIME).rotate_left(23);
    }
    for byte in words.remainder() {
        sum = (sum ^ u64::from(*byte)).wrapping_mul(PRIME);
    }
    sum ^= sum >> 29;
    sum = sum.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    sum ^ (sum >> 32)
}

fn value_of(content: &impl Serialize) -> Value {
    serde_json::to_value(content).unwrap_or(Value::Null)
}

/// The checksum of a value's JSON form, as 16 digits.
pub fn digest(content: &impl Serialize) -> String {
    format!("{:016x}", checksum(value_of(content).to_string().as_bytes()))
}

/// The first field in which two values differ, with both sides.
pub fn difference(was: &impl Serialize, is: &impl Serialize) -> Option<(String, String, String)> {
    differs(String::new(), &value_of(was), &value_of(is))
}

fn differs(name: String, was: &Value, is: &Value) -> Option<(String, String, String)> {
    if was == is {
        return None;
    }
    let (Some(old), Some(new)) = (was.as_object(), is.as_object()) else {
        return Some((name, was.to_string(), is.to_string()));
    };
    let fields = old.keys().chain(new.keys().filter(|field| !old.contains_key(*field)));
    fields.into_iter().find_map(|field| {
        let name = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
        differs(name, old.get(field).unwrap_or(&Value::Null), new.get(field).unwrap_or(&Value::Null))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_changes_the_checksum() {
        let mut bytes: Vec<u8> = (0..100).collect();
        let whole = checksum(&bytes);
        assert_ne!(whole, checksum(&bytes[..99]));
        for place in 0..800 {
            bytes[place / 8] ^= 1 << (place % 8);
            assert_ne!(checksum(&bytes), whole);
            bytes[place / 8] ^= 1 << (place % 8);
        }
        assert_eq!(checksum(&bytes), whole);
    }

    #[test]
    fn differences_are_named() {
        use serde_json::json;
        assert_eq!(difference(&json!({"a": 1}), &json!({"a": 1})), None);
        let found = difference(&json!({"a": 1, "b": 2}), &json!({"a": 1, "b": 3})).unwrap();
        assert_eq!(found, ("b".to_owned(), "2".to_owned(), "3".to_owned()));
        let found = difference(&json!({"a": 1}), &json!({"a": 1, "c": "x"})).unwrap();
        assert_eq!(found, ("c".to_owned(), "null".to_owned(), "\"x\"".to_owned()));
        let found = difference(&json!({"a": {"b": 1}}), &json!({"a": {"b": 2}})).unwrap();
        assert_eq!(found.0, "a.b");
    }
}
