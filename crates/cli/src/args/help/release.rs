//! The help below the flags of `release`: what each does, an example, and where bounds must not come from.

pub(crate) const RELEASE: &str = "\
Answer a question about a table (CSV or Parquet) with differential privacy: the answer carries just \
enough random noise that nobody can tell from it whether any one row was in the table.

Every release prints the answer, an interval that holds the answer without noise (of sums, means and \
quantiles: that of the clamped values), the privacy spent (epsilon: smaller \
protects more and is noisier; 0.1 to 1 is usual) and a certificate: what was protected, what happened, \
what it adds up to and what was taken as public. Releases on the same data add up.

What you declare (bounds, categories, bins, filters) is taken as public. Take it from what is known \
about the subject, never from the data: a bound read off the data gives away the row that set it.";

pub(crate) const COUNT: &str = "\
How many rows there are. With --where, how many satisfy it; with --column, how many have a value there. \
With --error instead of --epsilon, spends the least epsilon that keeps the error within it.

  reticent release count testdata/adult/adult.parquet --where 'income=>50K' --epsilon 0.5
  reticent release count testdata/adult/adult.parquet --where 'age>=65' --error 20";

pub(crate) const SUM: &str = "\
The clamped sum of a numeric column: every value is clamped to --bounds first, and the interval is about \
that sum, not about the sum of the values as they are (--count-clamped says whether the two differ; with --schema, bounds inside of the schema's are told). \
Missing values, and those that are not numbers, add nothing. One row \
can move the sum by as much as the bounds allow, so they set the noise: choose them from what is known \
about the subject, not from the data. Under replace-one a row may also lose its value or its match with \
--where, so there the noise is for bounds widened to include 0.

  reticent release sum testdata/adult/adult.parquet \\
      --column capital_gain --bounds 0,20000 --epsilon 1";

pub(crate) const MEAN: &str = "\
The clamped mean of a numeric column: every value is clamped to --bounds first, and the interval is about \
that mean, not about the mean of the values as they are (--count-clamped says whether the two differ; with --schema, bounds inside of the schema's are told). \
Missing values, and those that are not numbers, are left out. Bounds \
set the noise: choose them from what is known about the subject (ages of working adults: 17 to 90), \
never from the data. With --neighboring replace-one and no --where the number of rows is public and \
the answer divides by it; a missing value then counts as the middle of the bounds.

  reticent release mean testdata/adult/adult.parquet --column age --bounds 17,90 --epsilon 1";

pub(crate) const HISTOGRAM: &str = "\
How many rows fall into each of the categories or bins you declare. A row is in at most one of them, so \
the whole budget serves every cell. Values that are not declared, and missing values, are not counted: \
listing the categories found in the data would reveal the rare ones.

  reticent release histogram testdata/adult/adult.parquet \\
      --column sex --categories Female,Male --epsilon 1
  reticent release histogram testdata/adult/adult.parquet \\
      --column age --bins 17,30,45,60,90 --epsilon 1";

pub(crate) const QUANTILE: &str = "\
The median, or another quantile, of a numeric column: one of evenly spaced candidates between --bounds, \
chosen by how close it comes, with an interval of candidates around it. Half of the budget goes to the \
answer, half to the interval. Bounds must come from what is known about the subject, never from the \
data; wide ones cost little here. Values outside are clamped to them, so a quantile beyond a bound comes \
out as that bound. Missing values, and those that are not numbers, are left out.

  reticent release quantile testdata/adult/adult.parquet --column age --bounds 0,120 --epsilon 1
  reticent release quantile testdata/adult/adult.parquet \\
      --column hours_per_week --bounds 0,100 --quantile 0.9 --epsilon 1";

pub(crate) const MODE: &str = "\
The most common of the categories you declare, and by how many rows it may fall short of the true one. \
Categories must come from what is known about the subject, never from the data. Costs less than a \
histogram when only the winner is needed.

  reticent release mode testdata/adult/adult.parquet \\
      --column education --categories HS-grad,Some-college,Bachelors,Masters --epsilon 0.1";

pub(crate) const PROPORTION: &str = "\
The share of rows whose column has a given value, out of all rows (that satisfy --where). A missing \
value counts as another one. With --neighboring replace-one and no --where the number of rows is public.

  reticent release proportion testdata/adult/adult.parquet \\
      --column income --value '>50K' --epsilon 1";

pub(crate) const RANDOMIZE: &str = "\
Randomize a yes/no or categorical column answer by answer: each is kept with a probability set by \
epsilon and otherwise replaced by one of the other categories at random, so that every respondent can \
deny the answer on file. A missing or undeclared answer becomes any category with the same probability. Only the randomized column is written, unless --keep-columns names others: \
those are copied as they are and nothing protects them. 'reticent release estimate' recovers the \
population figures from the output.

  reticent release randomize testdata/survey.csv \\
      --column sex --categories Male,Female --epsilon 1 --out randomized.csv";

pub(crate) const ESTIMATE: &str = "\
Recover the population figures from a column that 'reticent release randomize' wrote: for each category \
the estimated share, its standard error and an interval. Spends no privacy: the answers were randomized \
already. Categories and epsilon (or the keep probability) must be those of the randomization.

  reticent release estimate randomized.csv --column sex --categories Male,Female --epsilon 1";
