//! The help below the flags of `schema`.

pub(crate) const SCHEMA: &str = "\
A schema states what is known about a table without looking at it: the privacy unit, the label, the bounds of every numeric \
column and the categories of every text column. Training treats it as public, so write it from a questionnaire, a code book or \
a regulation; 'reticent schema infer' drafts one to start from.";

pub(crate) const INFER: &str = "\
Without --epsilon, the draft contains what the data contain: minimum and maximum of every number, every category. That is NOT \
private: a bound computed from the data reveals the row that set it. Replace every entry with public knowledge before you \
share anything that was trained or released with the schema.

With --epsilon, the schema is learnt with differential privacy (add-remove, unit: row) and can be used as it is. The budget is \
divided equally among the columns. Bounds are round numbers that leave out about the outermost half percent on either side. \
Only categories with enough rows are named, which needs --delta if a column may be text (in CSV, any column may). The cost is \
stored in the schema's table [spent] and is added to the cost of everything computed from the same data. A column for which \
the budget is too small is written as \"ignore\". Leave out columns you do not need with --ignore: fewer columns cost less.

  reticent schema infer testdata/adult/adult.parquet --label income --positive '>50K'
  reticent schema infer testdata/adult/adult.parquet --label income --positive '>50K' \\
      --ignore fnlwgt --epsilon 1 --delta 1e-6 --out schema.toml";
