use super::*;
use crate::fixture::Folder;

fn folder() -> Folder {
    let folder = Folder::new();
    for name in ["mnist", "adult"] {
        std::fs::create_dir(folder.path(name)).unwrap();
    }
    folder.file("README.md", "not a dataset");
    folder
}

#[test]
fn a_dataset_is_found_where_asked_for_before_the_environment() {
    let (here, there) = (folder(), folder());
    let variable = Some(there.path("").into_os_string());
    let found = find("mnist", Some(&here.path("")), variable.clone()).unwrap();
    assert_eq!(found, here.path("mnist"));
    assert_eq!(find("mnist", None, variable).unwrap(), there.path("mnist"));
    assert_eq!(find_dataset("adult", Some(&here.path(""))).unwrap(), here.path("adult"));
}

#[test]
fn a_dash_is_an_underscore_where_only_one_folder_is_meant() {
    let folder = folder();
    std::fs::create_dir(folder.path("fashion_mnist")).unwrap();
    let find = |name: &str| find(name, Some(&folder.path("")), None);
    assert_eq!(find("fashion-mnist").unwrap(), folder.path("fashion_mnist"));
    assert!(find("../fashion-mnist").is_err());
    std::fs::create_dir(folder.path("Fashion_MNIST")).unwrap();
    assert!(find("fashion-mnist").is_err());
    assert_eq!(find("fashion_mnist").unwrap(), folder.path("fashion_mnist"));
}

#[test]
fn without_a_folder_the_error_says_how_to_set_one() {
    for variable in [None, Some(OsString::new())] {
        let error = find("mnist", None, variable).unwrap_err();
        assert_eq!(
            error.to_string(),
            "dataset \"mnist\": no data folder is set: give --data-dir or set RETICENT_DATA"
        );
    }
}

#[test]
fn an_unknown_dataset_lists_the_known_ones() {
    let folder = folder();
    let message = |name: &str| {
        let error = find(name, Some(&folder.path("")), None).unwrap_err();
        folder.message(error)
    };
    assert_eq!(message("mnst"), "dataset \"mnst\" is not in : it has adult, mnist (did you mean \"mnist\"?)");
    for name in ["README.md", "../mnist", "mnist/..", "/", "", ".", "mnist/../adult"] {
        assert!(message(name).contains("it has adult, mnist"), "{name}");
    }
    let empty = Folder::new();
    let error = find("mnist", Some(&empty.path("")), None).unwrap_err().to_string();
    assert!(error.ends_with("it has nothing"), "{error}");
    let error = find("mnist", Some(&empty.path("gone")), None).unwrap_err().to_string();
    assert!(error.contains("cannot read the data folder"), "{error}");
}
