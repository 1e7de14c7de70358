use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use proptest::prelude::*;

use super::*;
use crate::DataError;
use crate::fixture::Folder;

/// `numpy.save` of `[[1, 2.5, -3], [0, inf, 0.001]]` as float32.
const NPY: &str = "\
934e554d5059010076007b276465736372273a20273c6634272c2027666f727472616e5f6f72646572273a2046616c73652c\
20277368617065273a2028322c2033292c207d20202020202020202020202020202020202020202020202020202020202020\
2020202020202020202020202020202020202020202020202020200a0000803f00002040000040c0000000000000807f6f12\
833a";
/// `numpy.savez` of `x`, the integers 0, 1, 2, and `y`, true and false.
const STORED: &str = "\
504b03042d000000000000002100f74012eaffffffffffffffff05001400782e6e7079010010009800000000000000980000\
0000000000934e554d5059010076007b276465736372273a20273c6938272c2027666f727472616e5f6f72646572273a2046\
616c73652c20277368617065273a2028332c292c207d20202020202020202020202020202020202020202020202020202020\
20202020202020202020202020202020202020202020202020202020202020200a0000000000000000010000000000000002\
00000000000000504b03042d000000000000002100ee19bb5dffffffffffffffff05001400792e6e70790100100082000000\
000000008200000000000000934e554d5059010076007b276465736372273a20277c6231272c2027666f727472616e5f6f72\
646572273a2046616c73652c20277368617065273a2028322c292c207d202020202020202020202020202020202020202020\
2020202020202020202020202020202020202020202020202020202020202020202020202020200a0100504b01022d032d00\
0000000000002100f74012ea9800000098000000050000000000000000000000800100000000782e6e7079504b01022d032d\
000000000000002100ee19bb5d82000000820000000500000000000000000000008001cf000000792e6e7079504b05060000\
00000200020066000000880100000000";
/// `numpy.savez_compressed` of the same.
const DEFLATED: &str = "\
504b03042d000000080000002100f74012eaffffffffffffffff05001400782e6e70790100100098000000000000004c0000\
00000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f54529498179f5f94920a12774bcc\
294e058a17672416a402f91ac63a9a3a0ab50a14002e06286084d24c501a00504b03042d000000080000002100ee19bb5dff\
ffffffffffffff05001400792e6e707901001000820000000000000046000000000000009bec17ea1b10c9c850c650ad9e92\
5a9c5ca46ea5a05e9364a8aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a0ab50a\
14002e460600504b01022d032d000000080000002100f74012ea4c0000009800000005000000000000000000000080010000\
0000782e6e7079504b01022d032d000000080000002100ee19bb5d4600000082000000050000000000000000000000800183\
000000792e6e7079504b0506000000000200020066000000000100000000";

fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap() as u8;
    text.as_bytes().chunks(2).map(|pair| digit(&pair[0]) << 4 | digit(&pair[1])).collect()
}

fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

fn idx(kind: u8, shape: &[u32], data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, kind, shape.len() as u8];
    shape.iter().for_each(|length| bytes.extend(length.to_be_bytes()));
    [&bytes, data].concat()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Reads a file by its extension, every array of it.
fn read(path: &Path) -> Result<Vec<Array>, DataError> {
    match path.extension().unwrap().to_str().unwrap() {
        "npz" => {
            let archive = NpzFile::open(path)?;
            archive.names().iter().map(|name| archive.read(name)).collect()
        }
        "npy" => read_npy(path).map(|array| vec![array]),
        _ => read_idx(path).map(|array| vec![array]),
    }
}

/// Reads bytes as a file of that extension. Each has a name of its own: to replace a file is slow.
fn read_bytes(folder: &Folder, name: &str, serial: usize, bytes: &[u8]) -> Result<Vec<Array>, DataError> {
    let path = folder.file(&format!("{serial}-{name}"), bytes);
    let arrays = read(&path);
    std::fs::remove_file(path).unwrap();
    arrays
}

fn message(name: &str, bytes: &[u8]) -> String {
    let folder = Folder::new();
    folder.message(read(&folder.file(name, bytes)).unwrap_err())
}

fn array(shape: &[usize], values: Values) -> Array {
    Array::new(shape.to_vec(), values).unwrap()
}

#[test]
fn files_from_numpy_are_read() {
    let folder = Folder::new();
    let read_back = read_npy(&folder.file("a.npy", unhex(NPY))).unwrap();
    let values = vec![1.0, 2.5, -3.0, 0.0, f32::INFINITY, 0.001];
    assert_eq!(read_back, array(&[2, 3], Values::F32(values)));
    assert_eq!((read_back.rows(), read_back.width()), (2, 3));
    assert_eq!(read_back.to_f64()[1], 2.5);
    for archive in [STORED, DEFLATED] {
        let archive = NpzFile::open(&folder.file("a.npz", unhex(archive))).unwrap();
        assert_eq!(archive.names(), ["x", "y"]);
        assert_eq!(archive.read("x").unwrap(), array(&[3], Values::I64(vec![0, 1, 2])));
        assert_eq!(archive.read("y").unwrap(), array(&[2], Values::Bool(vec![true, false])));
        assert_eq!(
            folder.message(archive.read("X").unwrap_err()),
            "array \"X\" is not in a.npz: it has x, y (did you mean \"x\"?)"
        );
    }
}

#[test]
fn every_type_and_version_is_read() {
    let folder = Folder::new();
    let cases: [(&str, &str, &[u8], Values); 7] = [
        ("<f8", "(1,)", &1.5f64.to_le_bytes(), Values::F64(vec![1.5])),
        ("<i4", "(1, 1)", &(-7i32).to_le_bytes(), Values::I32(vec![-7])),
        ("<i8", "(1, 1, 1)", &i64::MIN.to_le_bytes(), Values::I64(vec![i64::MIN])),
        ("|u1", "(1, 2, 1, 1)", &[1, 255], Values::U8(vec![1, 255])),
        ("|b1", "(2)", &[0, 1], Values::Bool(vec![false, true])),
        ("<f4", "(0, 5)", &[], Values::F32(vec![])),
        ("<f4", "(0, 4294967295, 4294967295)", &[], Values::F32(vec![])),
    ];
    for (descr, shape, data, values) in cases {
        let header = format!("{{\"shape\": {shape}, 'descr': '{descr}', 'fortran_order': False}}  \n");
        for bytes in [npy(&header, data), gzipped(&npy(&header, data))] {
            assert_eq!(*read_npy(&folder.file("a.npy", bytes)).unwrap().values(), values);
        }
        let length = (header.len() as u32).to_le_bytes();
        for version in [2, 3] {
            let bytes = [b"\x93NUMPY", &[version, 0][..], &length, header.as_bytes(), data].concat();
            assert_eq!(*read_npy(&folder.file("a.npy", bytes)).unwrap().values(), values);
        }
    }
    assert!(array(&[0, 5], Values::U8(vec![])).values().is_empty());
    assert_eq!(array(&[2], Values::Bool(vec![true, false])).to_f64(), [1.0, 0.0]);
    assert_eq!(Array::new(vec![2, 2], Values::U8(vec![0; 3])), None);
    assert_eq!(Array::new(vec![], Values::U8(vec![0])), None);
}

/// numpy.asfortranarray(numpy.arange(24).reshape(2, 3, 4)), and halves as numpy.float16 has them.
#[test]
fn fortran_order_and_halves_are_read() {
    let folder = Folder::new();
    let order = |[i, j, k]: [usize; 3]| (i * 12 + j * 4 + k) as u8;
    let bytes: Vec<u8> = (0..24).map(|at| order([at % 2, at / 2 % 3, at / 6])).collect();
    let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }";
    let read = read_npy(&folder.file("f.npy", npy(header, &bytes))).unwrap();
    assert_eq!(read, array(&[2, 3, 4], Values::U8((0..24).collect())));
    let halves: [(u16, f32); 8] = [
        (0x0000, 0.0),
        (0x3c00, 1.0),
        (0xc000, -2.0),
        (0x7bff, 65504.0),
        (0x0001, 5.960_464_5e-8),
        (0x3555, 0.333_251_95),
        (0x7c00, f32::INFINITY),
        (0xfc00, f32::NEG_INFINITY),
    ];
    let bytes: Vec<u8> = halves.iter().flat_map(|(bits, _)| bits.to_le_bytes()).collect();
    let header = "{'descr': '<f2', 'fortran_order': False, 'shape': (8,), }";
    let read = read_npy(&folder.file("h.npy", npy(header, &bytes))).unwrap();
    assert_eq!(*read.values(), Values::F32(halves.iter().map(|(_, value)| *value).collect()));
}

#[test]
fn arrays_of_another_kind_are_refused_with_advice() {
    let header = |descr: &str, order: &str, shape: &str| {
        npy(&format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"), &[0; 64])
    };
    let wrong_type =
        "save it as little-endian float16, float32, float64, int32 or int64, or as uint8 or bool";
    let cases = [
        (header("'>f8'", "False", "(8,)"), format!("an array of type \">f8\" cannot be read: {wrong_type}")),
        (header("'|O'", "False", "(8,)"), format!("an array of type \"|O\" cannot be read: {wrong_type}")),
        (
            header("[('a', '<f4'), ('b]', '<i4', (2,))]", "False", "(8,)"),
            format!("an array of records cannot be read: {wrong_type}"),
        ),
        (
            header("'<f8'", "False", "()"),
            "an array of 0 dimensions cannot be read: reshape it to one to four dimensions".into(),
        ),
        (
            header("'<f8'", "False", "(1, 1, 1, 1, 8)"),
            "an array of 5 dimensions cannot be read: reshape it to one to four dimensions".into(),
        ),
        (
            [b"\x93NUMPY\x04\x00", &[0; 90][..]].concat(),
            "version 4 of the .npy format cannot be read: save it with numpy.save".into(),
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(message("a.npy", &bytes), format!("a.npy: {expected}"));
    }
    assert_eq!(
        message("a.idx", &idx(13, &[1], &[0; 4])),
        "a.idx: an idx file of type 13 cannot be read: convert it to unsigned bytes (type 8)"
    );
    assert_eq!(
        message("a.idx", &idx(8, &[1; 5], &[0; 4])),
        "a.idx: an array of 5 dimensions cannot be read: give it one to four dimensions"
    );
}

#[test]
fn promises_are_checked_before_anything_is_allocated() {
    let broken = |name: &str, bytes: &[u8], reason: &str| {
        let message = message(name, bytes);
        assert!(message.contains(&format!("({reason})")), "{message}");
    };
    let short = "it is shorter than its header says";
    for shape in ["(9223372036854775807,)", "(4294967296, 4294967296)", "(0, 4294967296, 4294967296)", "(9,)"]
    {
        let bytes = npy(&format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}"), &[0; 64]);
        broken("a.npy", &bytes, short);
    }
    broken("a.idx", &idx(8, &[u32::MAX; 4], &[]), short);
    broken("a.idx", &idx(8, &[u32::MAX, 2], &[0; 100]), short);
    broken("a.idx", &gzipped(&idx(8, &[u32::MAX], &[0; 100])), short);
    broken("a.idx", &idx(8, &[3], &[0; 4]), "it has more bytes than its header says");
    broken("a.idx", &gzipped(&idx(8, &[3], &[0; 4])), "it has more bytes than its header says");
    broken("a.idx", &gzipped(&idx(8, &[3], &[0; 2])), "it ends too early");
    broken("a.idx", &[1, 2, 3, 4], "it does not start as an idx file does");
    broken("a.idx", &[], "it is empty");
    broken("a.npy", b"PK\x03\x04.......", "it does not start as a .npy file does");
    let header = "{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}";
    broken("a.npy", &npy(header, &[2]), "a boolean is neither 0 nor 1");
    broken("a.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}", "its header is too long");
    for header in
        ["", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x"]
    {
        broken("a.npy", &npy(header, &[0; 4]), "its header is not one of NumPy's");
    }
    assert_eq!(message("a.npy", &gzipped(&[0; 10])[..12]).matches("ends too early").count(), 1);
    let mut corrupt = gzipped(&idx(8, &[3], &[1, 2, 3]));
    let checksum = corrupt.len() - 8;
    corrupt[checksum] ^= 1;
    broken("a.idx", &corrupt, "its compressed data is corrupt");
}

/// An archive of one member with fields to alter: flags, method, sizes.
fn zip(name: &str, [flags, method]: [u16; 2], packed: &[u8], unpacked: u32, checksum: u32) -> Vec<u8> {
    let size = (packed.len() as u32).to_le_bytes();
    let length = (name.len() as u16).to_le_bytes();
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.resize(26, 0);
    bytes.extend([&length[..], &[0, 0], name.as_bytes(), packed].concat());
    let start = (bytes.len() as u32).to_le_bytes();
    let mut entry = b"PK\x01\x02\x14\0\x14\0".to_vec();
    entry.extend([flags.to_le_bytes(), method.to_le_bytes(), [0, 0], [0, 0]].concat());
    entry.extend([checksum.to_le_bytes(), size, unpacked.to_le_bytes()].concat());
    entry.extend(length);
    entry.resize(46, 0);
    entry.extend(name.as_bytes());
    let end = [&(entry.len() as u32).to_le_bytes()[..], &start, &[3, 0], b"hi!"].concat();
    [&bytes, &entry, b"PK\x05\x06\0\0\0\0\x01\0\x01\0".as_slice(), &end].concat()
}

#[test]
fn archives_are_checked() {
    let inner = npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", &[1, 2]);
    let mut crc = flate2::Crc::new();
    crc.update(&inner);
    let (sum, size) = (crc.sum(), inner.len() as u32);
    let deflated = {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&inner).unwrap();
        encoder.finish().unwrap()
    };
    let folder = Folder::new();
    for bytes in [zip("a b.npy", [0, 0], &inner, size, sum), zip("a b.npy", [8, 8], &deflated, size, sum)] {
        let archive = NpzFile::open(&folder.file("a.npz", bytes)).unwrap();
        assert_eq!(archive.names(), ["a b"]);
        assert_eq!(archive.read("a b").unwrap(), array(&[2], Values::U8(vec![1, 2])));
    }
    let cases = [
        (zip("a.npy", [0, 0], &inner, size, sum ^ 1), "its checksum is wrong"),
        (zip("a.npy", [0, 0], &inner, size + 1, sum), "the sizes in its directory contradict each other"),
        (zip("a.npy", [0, 8], &deflated, 1 << 30, sum), "the sizes in its directory contradict each other"),
        (zip("a.npy", [0, 8], &[0xff; 40], size, sum), "its compressed data is corrupt"),
        (zip("a.npy", [1, 0], &inner, size, sum), "an encrypted archive"),
        (zip("a.npy", [0, 14], &inner, size, sum), "an archive compressed by method 14"),
        (zip("a.npy", [0, 8], &inner, u32::MAX, sum), "a ZIP64 archive"),
        (zip("a.txt", [0, 0], &inner, size, sum), "an archive with other files than .npy"),
        (
            zip("a.npy", [0, 0], &inner[..size as usize - 1], size - 1, sum),
            "it is shorter than its header says",
        ),
        (unhex(NPY), "it is not a ZIP archive"),
        (b"PK".to_vec(), "it is not a ZIP archive"),
    ];
    for (bytes, expected) in cases {
        let message = message("a.npz", &bytes);
        assert!(message.contains(expected), "{message}");
    }
    let mut elsewhere = zip("a.npy", [0, 0], &inner, size, sum);
    let start = elsewhere.len() - 9;
    elsewhere[start] = 0xff;
    assert!(message("a.npz", &elsewhere).contains("lies outside the file"));
    let mut twice = unhex(STORED);
    let name = twice.len() - 22 - 5;
    twice[name] = b'x';
    assert!(message("a.npz", &twice).contains("two arrays share a name"));
}

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let image = idx(8, &[2, 3, 1], &[1, 2, 3, 4, 5, 6]);
    vec![
        ("a.npy", unhex(NPY)),
        ("a.npz", unhex(STORED)),
        ("a.npz", unhex(DEFLATED)),
        ("a.idx", gzipped(&image)),
        ("a.idx", image),
    ]
}

#[test]
fn no_prefix_of_a_file_is_read() {
    let folder = Folder::new();
    for (name, whole) in samples() {
        assert!(read(&folder.file(name, &whole)).is_ok());
        for length in 0..whole.len() {
            let read = read_bytes(&folder, name, length, &whole[..length]);
            assert!(read.is_err(), "{name} cut to {length}");
        }
    }
}

#[test]
fn a_flipped_bit_is_refused_or_changes_only_what_is_not_checked() {
    let folder = Folder::new();
    for (name, whole) in samples() {
        let intact = read(&folder.file(name, &whole)).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(arrays) = read_bytes(&folder, name, bit, &bytes) else { continue };
            // Checksums guard the values of archives and of gzipped files.
            if name == "a.npz" || bytes.starts_with(&[0x1f, 0x8b]) {
                assert!(arrays.iter().all(|array| intact.contains(array)), "{name}, bit {bit}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in proptest::collection::vec(any::<u8>(), 1..200),
        start in 0usize..6,
    ) {
        let starts: [&[u8]; 6] = [
            b"",
            b"\x93NUMPY\x01\x00\x20\x00{",
            b"\0\0\x08\x02",
            &[0x1f, 0x8b, 8, 0],
            b"PK\x03\x04",
            b"PK\x05\x06",
        ];
        let folder = Folder::new();
        for name in ["a.npy", "a.npz", "a.idx"] {
            let _ = read(&folder.file(name, [starts[start], &bytes].concat()));
        }
    }

    #[test]
    fn altered_files_never_panic(
        sample in 0usize..5,
        edits in proptest::collection::vec(any::<(u16, u8)>(), 1..6),
    ) {
        let (name, mut bytes) = samples().swap_remove(sample);
        for (at, byte) in edits {
            let at = usize::from(at) % bytes.len();
            bytes[at] = byte;
        }
        let folder = Folder::new();
        let _ = read(&folder.file(name, bytes));
    }

    #[test]
    fn headers_never_panic(
        text in "[ -~é]{0,40}|\\{'descr': [\\[\\]()'<f4, ]{0,12}, 'shape': [(),0-9]{0,8}, 'fortran_order': True\\}",
    ) {
        let _ = header::parse(&text);
    }
}
