use proptest::prelude::*;

use super::*;

/// The standard library's SipHash-2-4.
#[allow(deprecated)]
fn reference([k0, k1]: [u64; 2], bytes: &[u8]) -> u64 {
    use std::hash::Hasher as _;
    let mut hasher = std::hash::SipHasher::new_with_keys(k0, k1);
    hasher.write(bytes);
    hasher.finish()
}

#[test]
fn the_published_vectors_hold() {
    let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
    let input: Vec<u8> = (0..64).collect();
    let hash = |length: usize| Sip::new(key).with(&input[..length]).finish();
    // The example of the paper's appendix, and the first of its authors' test vectors.
    assert_eq!(hash(15), 0xa129_ca61_49be_45e5);
    assert_eq!(hash(0), 0x726f_db47_dd0e_0e31);
    assert_eq!(hash(1), 0x74f8_39c5_93dc_67fd);
    assert_eq!(hash(8), 0x93f5_f579_9a93_2462);
    for length in 0..64 {
        assert_eq!(hash(length), reference(key, &input[..length]));
    }
}

#[test]
fn a_split_is_the_same_for_ever() {
    let split = Split::new("2024", 0.5).unwrap();
    let sides: String =
        (0..32).map(|id| if split.user(&Cell::Integer(id)) == SplitSide::Test { 'x' } else { '.' }).collect();
    assert_eq!(sides, "x.xxx.x..x...xx.x...xx...x.xxxxx");
    let sides: String = (0..32)
        .map(|age| {
            let cells = [Cell::Integer(age), Cell::Text("Male")];
            if split.row(["age", "sex"].into_iter().zip(&cells)) == SplitSide::Test { 'x' } else { '.' }
        })
        .collect();
    assert_eq!(sides, "xx....x.....x..xx.x..xxx.x.x...x");
}

#[test]
fn shares_are_checked_and_their_ends_are_exact() {
    for share in [-0.1, 1.1, f64::NAN] {
        assert!(Split::new("k", share).is_err());
    }
    assert_eq!(Split::new("k", 2.0).unwrap_err().to_string(), "a test share of 2 is not between 0 and 1");
    let (none, all) = (Split::new("k", 0.0).unwrap(), Split::new("k", 1.0).unwrap());
    assert_eq!((none.below, all.below), (0, 1 << 64));
    for id in 0..1000 {
        assert_eq!(none.user(&Cell::Integer(id)), SplitSide::Train);
        assert_eq!(all.user(&Cell::Integer(id)), SplitSide::Test);
    }
}

#[test]
fn the_share_is_met_on_average_and_keys_matter() {
    let tested = |key: &str| {
        let split = Split::new(key, 0.2).unwrap();
        (0..10_000).filter(|id| split.user(&Cell::Integer(*id)) == SplitSide::Test).collect::<Vec<_>>()
    };
    let (first, second) = (tested("a"), tested("b"));
    // Fixed keys: these numbers never change. The standard deviation is 40.
    assert!(first.len().abs_diff(2000) < 160 && second.len().abs_diff(2000) < 160);
    let both = first.iter().filter(|id| second.contains(id)).count();
    assert!(both.abs_diff(400) < 80);
}

#[test]
fn names_and_cells_do_not_run_together() {
    let split = Split::new("k", 0.5).unwrap();
    let differs = |a: (&str, &str), b: (&str, &str)| {
        // Some prefix tells them apart: one coin could fall the same way.
        (0..64).any(|i| {
            let prefix = Cell::Integer(i);
            let row = |pair: (&str, &str)| split.row([("i", &prefix), (pair.0, &Cell::Text(pair.1))]);
            row(a) != row(b)
        })
    };
    assert!(differs(("ab", "c"), ("a", "bc")));
    assert!(differs(("a", "x"), ("b", "x")));
    assert!(!differs(("a", "x"), ("a", " x ")));
    assert!(differs(("a", "x"), ("a", "X")));
}

#[test]
fn the_way_a_number_is_written_does_not_count() {
    let key = [1, 2];
    let hash = |cell: Cell<'_>| add_cell(Sip::new(key), &cell).finish();
    for cell in [Cell::Text("39"), Cell::Text(" +39.0"), Cell::Float(39.0), Cell::Text("3.9e1")] {
        assert_eq!(hash(cell), hash(Cell::Integer(39)));
    }
    assert_eq!(hash(Cell::Float(-0.0)), hash(Cell::Integer(0)));
    assert_eq!(hash(Cell::Float(0.25)), hash(Cell::Text("0.25")));
    assert_eq!(hash(Cell::Text("true")), hash(Cell::Boolean(true)));
    assert_eq!(hash(Cell::Float(f64::NAN)), hash(Cell::Text("NaN")));
    assert_eq!(hash(Cell::Text("  ")), hash(Cell::Null));
    assert_eq!(hash(Cell::Float(9.3e18)), hash(Cell::Text("9300000000000000000")));
    assert_ne!(hash(Cell::Null), hash(Cell::Text("null")));
    assert_ne!(hash(Cell::Integer(0)), hash(Cell::Null));
    assert_ne!(hash(Cell::Integer(i64::MIN)), hash(Cell::Integer(i64::MAX)));
}

proptest! {
    #[test]
    fn any_key_and_input_agree_with_the_reference(key: [u64; 2], bytes: Vec<u8>, cut: usize) {
        let cut = cut % (bytes.len() + 1);
        let hash = Sip::new(key).with(&bytes[..cut]).with(&bytes[cut..]).finish();
        prop_assert_eq!(hash, reference(key, &bytes));
    }

    #[test]
    fn the_order_of_columns_does_not_count(
        words in proptest::collection::vec("[a-c0-9]{0,3}", 1..6),
        by in 0usize..6,
    ) {
        let split = Split::new("key", 0.5).unwrap();
        let cells: Vec<Cell<'_>> = words.iter().map(|word| Cell::from_text(word)).collect();
        let mut columns: Vec<(&str, &Cell<'_>)> = ["u", "v", "w", "x", "y"].into_iter().zip(&cells).collect();
        let side = split.row(columns.iter().copied());
        let middle = by % columns.len();
        columns.rotate_left(middle);
        prop_assert_eq!(split.row(columns), side);
    }
}
