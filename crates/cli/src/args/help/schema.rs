//! The help below the flags of `schema`.

pub(crate) const SCHEMA: &str = "\
A schema says what is known about a table without looking at it: who is protected, what is predicted, \
the bounds of every number and the categories of every text. Training takes it as public, so it should \
be written from a questionnaire, a code book or the law; 'reticent schema infer' drafts one to start from.";

pub(crate) const INFER: &str = "\
Without --epsilon, the draft holds what is found in the records: the least and the largest number, every \
category. That is NOT private: a bound read off the data gives away the row that set it. Replace each one \
by what is publicly known before anything trained or released with it is shown to others.

With --epsilon, the schema is learnt with differential privacy (add-remove, unit: row) and may be used as \
it is: the budget is divided equally among the columns, bounds are round numbers around all but about the \
outermost half percent on either side, and only categories with enough rows are named, which needs --delta \
where a column may be text (in CSV any may). The cost stands in the schema's table [spent] and adds to \
the cost of whatever is computed from the same records. A column for which the budget finds nothing is \
written as \"ignore\". Columns that are not needed cost less: leave them out with --ignore.

  reticent schema infer testdata/adult/adult.parquet --label income --positive '>50K'
  reticent schema infer testdata/adult/adult.parquet --label income --positive '>50K' \\
      --ignore fnlwgt --epsilon 1 --delta 1e-6 --out schema.toml";
