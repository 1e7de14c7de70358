//! The help below the flags of `release`: what each statistic is, an example, and where bounds must not come from.

pub(crate) const RELEASE: &str = "\
Release a statistic of a table (CSV or Parquet) with differential privacy: random noise hides whether any single row was in \
the table.

Every release prints the answer, a confidence interval, the privacy spent (epsilon: smaller is more private and noisier; \
0.1 to 1 is usual) and a one-line summary of its certificate. The interval covers the answer without noise; for sums, means \
and quantiles this is the statistic of the clamped values. --certificate FILE.json writes the whole certificate: what was \
protected, which mechanisms ran, what they cost in total, and which facts were taken as public. The costs of several \
releases from the same data add up.

Bounds, categories, bins and filters are treated as public. Take them from domain knowledge, never from the data: a bound \
computed from the data reveals the row that set it.";

pub(crate) const COUNT: &str = "\
The number of rows; with --where, of rows that satisfy the condition; with --column, of rows with a value there. --error \
instead of --epsilon spends the smallest epsilon that keeps the error within it.

  reticent release count testdata/adult/adult.parquet --where 'income=>50K' --epsilon 0.5
  reticent release count testdata/adult/adult.parquet --where 'age>=65' --error 20
  reticent release count testdata/adult/adult.parquet \\
      --where \"age between 25 and 64 and not marital_status in (Widowed, Divorced)\" --epsilon 1";

pub(crate) const SUM: &str = "\
The sum of a numeric column after every value is clamped to --bounds. The interval is about the clamped sum, not about the \
sum of the original values: --count-clamped tells how many values were affected, and --schema warns about bounds that are \
narrower than the schema's. Missing values and values that are not numbers add nothing.

The bounds set the noise, because one row can change the sum by as much as they allow. Choose them from domain knowledge, \
not from the data. Under replace-one a row may also lose its value or its match with --where, so the noise is calibrated to \
bounds widened to include 0.

  reticent release sum testdata/adult/adult.parquet \\
      --column capital_gain --bounds 0,20000 --epsilon 1";

pub(crate) const MEAN: &str = "\
The mean of a numeric column after every value is clamped to --bounds. The interval is about the clamped mean, not about the \
mean of the original values: --count-clamped tells how many values were affected, and --schema warns about bounds that are \
narrower than the schema's. Missing values and values that are not numbers are left out.

The bounds set the noise. Choose them from domain knowledge (ages of working adults: 17 to 90), never from the data. With \
--neighboring replace-one and no --where, the number of rows is public and the answer divides by it; a missing value then \
counts as the midpoint of the bounds.

  reticent release mean testdata/adult/adult.parquet --column age --bounds 17,90 --epsilon 1";

pub(crate) const HISTOGRAM: &str = "\
The number of rows in each of the declared categories or bins. A row is in at most one of them, so every cell gets the whole \
budget. Values that are not declared and missing values are not counted: listing the categories found in the data would \
reveal the rare ones.

  reticent release histogram testdata/adult/adult.parquet \\
      --column sex --categories Female,Male --epsilon 1
  reticent release histogram testdata/adult/adult.parquet \\
      --column age --bins 17,30,45,60,90 --epsilon 1";

pub(crate) const QUANTILE: &str = "\
The median, or another quantile, of a numeric column: one of evenly spaced candidates between --bounds, selected privately, \
with an interval of candidates around it. Half of the budget pays for the answer and half for the interval. Take the bounds \
from domain knowledge, never from the data; wide bounds cost little here. Values outside are clamped, so a quantile beyond a \
bound is released as that bound. Missing values and values that are not numbers are left out.

  reticent release quantile testdata/adult/adult.parquet --column age --bounds 0,120 --epsilon 1
  reticent release quantile testdata/adult/adult.parquet \\
      --column hours_per_week --bounds 0,100 --quantile 0.9 --epsilon 1";

pub(crate) const MODE: &str = "\
The most common of the declared categories, and by how many rows it may fall short of the true one. Take the categories from \
domain knowledge, never from the data. This costs less than a histogram if only the winner is needed.

  reticent release mode testdata/adult/adult.parquet \\
      --column education --categories HS-grad,Some-college,Bachelors,Masters --epsilon 0.1";

pub(crate) const PROPORTION: &str = "\
The proportion of rows whose column has a given value, among all rows (that satisfy --where). A missing value counts as a \
different value. With --neighboring replace-one and no --where, the number of rows is public.

  reticent release proportion testdata/adult/adult.parquet \\
      --column income --value '>50K' --epsilon 1";

pub(crate) const RANDOMIZE: &str = "\
Randomized response for a yes/no or categorical column: each answer is kept with a probability set by epsilon and otherwise \
replaced by a random other category, so every respondent can deny the recorded answer. A missing or undeclared answer \
becomes each category with equal probability. Only the randomized column is written; columns named by --keep-columns are \
copied unchanged and are not protected. 'reticent release estimate' estimates the population proportions from the output.

  reticent release randomize testdata/survey.csv \\
      --column sex --categories Male,Female --epsilon 1 --out randomized.csv";

pub(crate) const ESTIMATE: &str = "\
Estimate the population proportions from a column written by 'reticent release randomize': for each category the estimated \
proportion, its standard error and a confidence interval. This spends no privacy, because the answers are randomized \
already. The categories and the epsilon (or the keep probability) must be those of the randomization.

  reticent release estimate randomized.csv --column sex --categories Male,Female --epsilon 1";
