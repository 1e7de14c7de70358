//! The groups of a page: declared without the data, or selected from them within a share of the budget.

use super::declared::Declared;
use super::request::{GroupBy, Keys, SelectedKeys};
use crate::refusal::Refusal;
use crate::release::{join_names, names};
use reticent_core::{Code, Fact};
use reticent_data::{Cell, DataError, Table, is_same_file, open_table};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The most groups that can be declared.
const MOST_GROUPS: usize = 1 << 20;

/// The groups.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Groups {
    /// The columns whose values name a group; none for one group of all rows.
    pub(super) columns: Vec<String>,
    pub(super) source: GroupSource,
    /// The public file that declares them, if one does.
    pub(super) file: Option<PathBuf>,
}

/// Where they come from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum GroupSource {
    /// Declared, in this order, and the place of each by its key.
    Declared { labels: Vec<Vec<String>>, places: BTreeMap<String, usize> },
    /// To be selected.
    Selected(SelectedKeys),
}

impl Groups {
    /// The groups of a request.
    pub(super) fn of(
        asked: Option<&GroupBy>,
        declared: &Declared,
        table: &dyn Table,
    ) -> Result<Self, Refusal> {
        let Some(GroupBy { columns, keys }) = asked else {
            return Self::declared(Vec::new(), vec![Vec::new()]);
        };
        let columns = names("group_by", columns, 1)?;
        for column in &columns {
            table.column(column).map_err(Refusal::data("group_by"))?;
        }
        match keys {
            Some(Keys::Selected(selected)) => {
                Ok(Self { columns, source: GroupSource::Selected(*selected), file: None })
            }
            Some(Keys::Lists(lists)) => {
                for (column, list) in lists.iter().filter(|(column, _)| columns.contains(column)) {
                    table.check_values(column, list).map_err(Refusal::data("keys"))?;
                }
                let labels = product(&columns, lists)?;
                Self::declared(columns, labels)
            }
            Some(Keys::Rows(rows)) => Self::declared(columns, rows.clone()),
            Some(Keys::File(path)) => {
                if table.files().iter().any(|file| is_same_file(file, path)) {
                    let remedy = "this file is a part of the private table, and the groups that occur in it are private: give a public \
                                  file, or let a share of the budget select the groups";
                    return Err(Refusal::value("keys", path.display(), remedy).coded(Code::Conflict));
                }
                let labels = of_file(&columns, path)?;
                Ok(Self { file: Some(path.clone()), ..Self::declared(columns, labels)? })
            }
            None => {
                let lists = columns.iter().filter_map(|column| {
                    declared.categories(column).map(|categories| (column.clone(), categories))
                });
                let lists: BTreeMap<String, Vec<String>> = lists.collect();
                if let Some(column) = columns.iter().find(|column| !lists.contains_key(*column)) {
                    let remedy = format!(
                        "give the groups as public lists of values, or let a share of the budget select them: {column} has no \
                         categories in a schema"
                    );
                    return Err(Refusal::missing("keys", remedy));
                }
                let labels = product(&columns, &lists)?;
                Self::declared(columns, labels)
            }
        }
    }

    fn declared(columns: Vec<String>, labels: Vec<Vec<String>>) -> Result<Self, Refusal> {
        let refuse = |key: &[String], remedy: String| {
            Err(Refusal::value("keys", join_names(key), remedy).coded(Code::List))
        };
        if labels.is_empty() {
            return refuse(&[], "give at least one group".to_owned());
        }
        if labels.len() > MOST_GROUPS {
            return Err(too_many(labels.len()));
        }
        let mut trimmed = Vec::with_capacity(labels.len());
        let mut places = BTreeMap::new();
        for key in &labels {
            if key.len() != columns.len() {
                return refuse(key, format!("give one value for each of {}", join_names(&columns)));
            }
            let key: Vec<String> = key.iter().map(|label| label.trim().to_owned()).collect();
            if key.iter().any(String::is_empty) {
                return refuse(&key, "one of the values is empty: a missing value is in no group".to_owned());
            }
            if places.insert(key_of(key.iter().map(String::as_str)), trimmed.len()).is_some() {
                return refuse(&key, "is listed twice: list it once".to_owned());
            }
            trimmed.push(key);
        }
        Ok(Self { columns, source: GroupSource::Declared { labels: trimmed, places }, file: None })
    }

    /// The number of groups, where it is public.
    pub(super) fn count(&self) -> Option<usize> {
        match &self.source {
            GroupSource::Declared { labels, .. } => Some(labels.len()),
            GroupSource::Selected(_) => None,
        }
    }

    /// The place of each group by its key, where the groups are declared.
    pub(super) fn places(&self) -> Option<&BTreeMap<String, usize>> {
        match &self.source {
            GroupSource::Declared { places, .. } => Some(places),
            GroupSource::Selected(_) => None,
        }
    }

    /// What the selection may cost, if there is one.
    pub(super) fn selection(&self) -> Option<&SelectedKeys> {
        match &self.source {
            GroupSource::Declared { .. } => None,
            GroupSource::Selected(selected) => Some(selected),
        }
    }

    /// The key of the group that a row is in, by its cells at these places, written to `key`; false for a row that is in none: one of
    /// its values is missing or the group is not declared.
    pub(super) fn find(&self, cells: &[Cell<'_>], places: &[usize], key: &mut String) -> bool {
        key.clear();
        for place in places {
            match cells[*place].label() {
                Some(label) => push_label(key, &label),
                None => return false,
            }
        }
        match &self.source {
            GroupSource::Declared { places, .. } => places.contains_key(key.as_str()),
            GroupSource::Selected(_) => true,
        }
    }

    /// What is taken as public.
    pub(super) fn facts(&self) -> Vec<Fact> {
        if self.columns.is_empty() {
            return Vec::new();
        }
        let columns = self.columns.clone();
        let mut facts = vec![match self.count() {
            Some(count) => Fact::DeclaredGroups { columns, count: count as u64 },
            None => Fact::SelectedGroups { columns },
        }];
        facts.extend(self.file.as_ref().map(|file| Fact::Other(format!("groups of {}", file.display()))));
        facts
    }
}

/// The key of a group: its labels, none of which runs into the next.
pub(super) fn key_of<'a>(labels: impl IntoIterator<Item = &'a str>) -> String {
    let mut key = String::new();
    labels.into_iter().for_each(|label| push_label(&mut key, label));
    key
}

pub(super) fn push_label(key: &mut String, label: &str) {
    // Writing to a string does not fail.
    let _ = write!(key, "{}:{label}", label.len());
}

/// The labels of a key.
pub(super) fn labels_of(mut key: &str) -> Vec<String> {
    let mut labels = Vec::new();
    while let Some((length, rest)) = key.split_once(':') {
        let length = length.parse().unwrap_or(0).min(rest.len());
        let Some((label, after)) = rest.split_at_checked(length) else { break };
        labels.push(label.to_owned());
        key = after;
    }
    labels
}

/// All combinations of the values of each column.
fn product(columns: &[String], lists: &BTreeMap<String, Vec<String>>) -> Result<Vec<Vec<String>>, Refusal> {
    if let Some(extra) = lists.keys().find(|column| !columns.contains(column)) {
        let remedy = format!("is not one of the columns of ⟦group_by⟧: {}", join_names(columns));
        return Err(Refusal::unknown("keys", extra, remedy));
    }
    let mut keys = vec![Vec::new()];
    for column in columns {
        let list = lists.get(column).ok_or_else(|| {
            Refusal::missing("keys", format!("give the values of {column}, such as {column}=a,b"))
        })?;
        let list = names("keys", list, 1)?;
        match keys.len().checked_mul(list.len()) {
            Some(count) if count <= MOST_GROUPS => {}
            count => return Err(too_many(count.unwrap_or(usize::MAX))),
        }
        let longer = |key: &Vec<String>| {
            let key = key.clone();
            list.iter()
                .map(move |label| [key.as_slice(), std::slice::from_ref(label)].concat())
                .collect::<Vec<_>>()
        };
        keys = keys.iter().flat_map(longer).collect();
    }
    Ok(keys)
}

/// The combinations that a public file has, in the order of their first row.
fn of_file(columns: &[String], path: &Path) -> Result<Vec<Vec<String>>, Refusal> {
    let table = open_table(path).map_err(Refusal::data("keys"))?;
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let (mut keys, mut known) = (Vec::new(), BTreeSet::new());
    let visit = &mut |_: u64, cells: &[Cell<'_>]| {
        let key: Option<Vec<String>> =
            cells.iter().map(|cell| cell.label().map(|label| label.into_owned())).collect();
        // A missing value is in no group.
        if let Some(key) = key.filter(|key| !known.contains(key)) {
            known.insert(key.clone());
            keys.push(key);
        }
        Ok::<(), DataError>(())
    };
    table.scan(&names, &mut |_| {}, visit).map_err(Refusal::data("keys"))?;
    Ok(keys)
}

fn too_many(count: usize) -> Refusal {
    let remedy = format!("these are too many groups: declare at most {MOST_GROUPS}");
    Refusal::value("keys", count, remedy).coded(Code::List)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_back_as_their_labels() {
        for labels in [vec!["AA", "JFK"], vec!["a:b", "1:"], vec!["é", "3:x"], vec![]] {
            assert_eq!(labels_of(&key_of(labels.iter().copied())), labels);
        }
        assert_ne!(key_of(["ab", "c"]), key_of(["a", "bc"]));
    }

    #[test]
    fn lists_are_multiplied_in_the_order_of_the_columns() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let lists = BTreeMap::from([("b".to_owned(), list(&["1", "2"])), ("a".to_owned(), list(&["x"]))]);
        let keys = product(&list(&["a", "b"]), &lists).unwrap();
        assert_eq!(keys, [["x", "1"], ["x", "2"]]);
        assert_eq!(product(&list(&["a"]), &lists).unwrap_err().code(), Code::UnknownName);
        assert_eq!(product(&list(&["a", "c"]), &lists).unwrap_err().field(), Some("keys"));
    }

    #[test]
    fn groups_are_distinct_and_complete() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let declared = |rows: &[&[&str]]| {
            Groups::declared(list(&["a", "b"]), rows.iter().map(|row| list(row)).collect())
        };
        assert_eq!(declared(&[&["x", "1"], &["x", "2"]]).unwrap().count(), Some(2));
        for bad in [&[&["x", "1"][..], &[" x", "1"]][..], &[&["x"]], &[&["x", ""]], &[]] {
            assert_eq!(declared(bad).unwrap_err().code(), Code::List, "{bad:?}");
        }
        let groups = declared(&[&["x", "1"]]).unwrap();
        let mut key = String::new();
        assert!(groups.find(&[Cell::Text("x"), Cell::Integer(1)], &[0, 1], &mut key));
        assert!(!groups.find(&[Cell::Text("x"), Cell::Null], &[0, 1], &mut key));
        assert!(!groups.find(&[Cell::Text("y"), Cell::Integer(1)], &[0, 1], &mut key));
    }
}
