use super::*;
use crate::fixture::Folder;

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_replaced() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    let folder = Folder::new();
    let kept = folder.file("kept.csv", "old");
    symlink(&kept, folder.path("link.csv")).unwrap();
    symlink(folder.path("nowhere"), folder.path("dangling.csv")).unwrap();
    fs::create_dir(folder.path("folder.csv")).unwrap();
    let _socket = UnixListener::bind(folder.path("socket.csv")).unwrap();
    assert!(process::Command::new("mkfifo").arg(folder.path("pipe.csv")).status().unwrap().success());
    let names = folder.names();
    for name in ["link.csv", "dangling.csv", "folder.csv", "socket.csv", "pipe.csv"] {
        let path = folder.path(name);
        let before = fs::symlink_metadata(&path).unwrap().file_type();
        let refused = |result: Result<(), FileError>| {
            assert!(matches!(result, Err(FileError::NotReplaced { .. })), "{name}: {result:?}");
        };
        refused(write_atomic(&path, b"new"));
        refused(append_line(&path, "new"));
        assert_eq!(fs::symlink_metadata(&path).unwrap().file_type(), before, "{name}");
    }
    assert_eq!(read(&kept), "old");
    assert_eq!(folder.names(), names);
    assert!(matches!(write_atomic(Path::new("/dev/null"), b"new"), Err(FileError::NotReplaced { .. })));
}

#[test]
fn a_half_line_is_cut_off_before_the_next_one() {
    let folder = Folder::new();
    let path = folder.path("lines.jsonl");
    append_line(&path, "one").unwrap();
    append_line(&path, "two").unwrap();
    assert_eq!(read(&path), "one\ntwo\n");
    for half in ["thr".to_owned(), "x".repeat(10_000)] {
        fs::write(&path, format!("one\ntwo\n{half}")).unwrap();
        append_line(&path, "four").unwrap();
        assert_eq!(read(&path), "one\ntwo\nfour\n");
        fs::write(&path, half).unwrap();
        append_line(&path, "four").unwrap();
        assert_eq!(read(&path), "four\n");
    }
    sync_folder(path.parent().unwrap()).unwrap();
    assert!(sync_folder(&folder.path("nowhere")).is_err() || cfg!(not(unix)));
}

#[test]
fn temporary_files_of_killed_writers_are_removed_by_the_next_one() {
    let folder = Folder::new();
    let path = folder.path("out.csv");
    folder.file(".out.csv.4711-0.tmp", "half");
    folder.file(".out.csv.tmp", "mine");
    folder.file(".other.csv.4711-0.tmp", "of another file");
    let writing = folder.file(".out.csv.4712-3.tmp", "of a writer that is alive");
    let alive = File::options().write(true).open(&writing).unwrap();
    alive.try_lock().unwrap();
    write_atomic(&path, b"whole").unwrap();
    assert_eq!(read(&path), "whole");
    let left = [".other.csv.4711-0.tmp", ".out.csv.4712-3.tmp", ".out.csv.tmp", "out.csv"];
    assert_eq!(folder.names(), left);
    drop(alive);
    write_atomic(&path, b"again").unwrap();
    assert_eq!(folder.names(), [".other.csv.4711-0.tmp", ".out.csv.tmp", "out.csv"]);
    assert_eq!(temporary_of(".model.json.4711-0.tmp"), Some("model.json"));
    for other in ["model.json", ".model.json.tmp", "..1-2.tmp", ".a.b-c.tmp", ".a.1-.tmp", ".a.1-2"] {
        assert_eq!(temporary_of(other), None, "{other}");
    }
}

#[test]
fn writers_of_one_file_keep_each_others_temporary_files() {
    let folder = Folder::new();
    let path = folder.path("out.txt");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let path = &path;
            scope.spawn(move || {
                (0..100).for_each(|_| write_atomic(path, format!("{thread}").as_bytes()).unwrap());
            });
        }
    });
    assert_eq!((read(&path).len(), folder.names()), (1, vec!["out.txt".to_owned()]));
}

#[cfg(unix)]
#[test]
fn private_files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let path = folder.path("a.txt");
    write_private(&path, b"x").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let public = folder.file("b.txt", "x");
    make_private(&public).unwrap();
    assert_eq!(fs::metadata(public).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_atomic_file_has_its_name_only_once_committed() {
    let folder = Folder::new();
    let path = folder.file("out.txt", "old");
    let mut file = AtomicFile::create(&path, Readers::Default).unwrap();
    file.write_all(b"half").unwrap();
    assert_eq!((read(&path).as_str(), folder.names().len()), ("old", 2));
    drop(file);
    assert_eq!((read(&path).as_str(), folder.names().len()), ("old", 1));
    let mut file = AtomicFile::create(&path, Readers::Default).unwrap();
    file.write_all(b"whole").unwrap();
    assert_eq!(file.target(), path);
    file.commit().unwrap();
    assert_eq!((read(&path).as_str(), folder.names().len()), ("whole", 1));
    assert!(matches!(AtomicFile::create(Path::new(".."), Readers::Default), Err(FileError::Io { .. })));
}
