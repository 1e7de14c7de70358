//! The help below the flags of pages of statistics.

pub(crate) const PAGE: &str = "\
Many statistics of one table under one total epsilon, for all rows or for each group. The whole page is one plan, so it gets \
the tight account; statistics that share a part (the count, sum, mean and variance of a column) share its noise.

A statistic is a column and clauses: 'age in 0,120' (bounds that values are clamped to), 'sex of Female,Male' (categories), \
'age by 0,20,40' (edges of bins; dates such as 2013-06-01 too), 'age in 0,120 at 0.25,0.5' (quantiles), 'income is >50K' (a \
value), 'x in 0,1 and y in 0,9' (two columns). Any of them may end with 'weight 2' (its share of the budget), 'within 20' \
(the wanted error, with --split by-error), 'size 1000' (the number of rows for which that error is to hold) and 'as NAME'. \
--count and --people take their clauses after an equals sign: --count='within 20'.

With --unit all rows that share a value of that column are protected together. Then say how much of one person counts: \
--rows-per-person in each group, --groups-per-person, or --total-per-person for sums. Rows beyond the limits are left out by \
a keyed order, so the same command keeps the same rows. 'reticent release limits' suggests limits from a paid estimate.

With --group-by every statistic is answered for each group. The groups are public (--keys) or found privately \
(--select-keys, which needs --delta: groups with few people are not named). A person in several groups costs more, as far as \
--groups-per-person allows.

A report.toml holds the same: keys are the names of the flags, and [[questions]] lists the statistics.

  reticent release page testdata/adult/adult.parquet --epsilon 1 \\
      --count --mean 'age in 17,90' --histogram 'sex of Female,Male'
  reticent release page testdata/flights/flights.parquet --epsilon 1 --delta 1e-6 \\
      --unit tailnum --rows-per-person 10 --groups-per-person 2 \\
      --group-by origin --keys origin=EWR,JFK,LGA \\
      --count --mean 'arr_delay in -60,180' --html flights.html";

pub(crate) const PEOPLE: &str = "\
The number of people: of distinct values of the column that --unit names. A row without a value there is nobody's, and is left out.

  reticent release people testdata/flights/flights.parquet --unit tailnum --epsilon 1";

pub(crate) const VARIANCE: &str = "\
The variance of a numeric column after every value is clamped to --bounds, with the number of values as divisor. The \
interval is about the clamped values. Missing values and values that are not numbers are left out.

  reticent release variance testdata/adult/adult.parquet \\
      --column age --bounds 17,90 --epsilon 1";

pub(crate) const STDDEV: &str = "\
The standard deviation of a numeric column after every value is clamped to --bounds: the root of the variance. The interval \
is about the clamped values. Missing values and values that are not numbers are left out.

  reticent release stddev testdata/adult/adult.parquet \\
      --column age --bounds 17,90 --epsilon 1";

pub(crate) const MEDIAN: &str = "\
The median of a numeric column, from a private tree of counts between --bounds. Values outside are clamped; wide bounds cost \
little here. Missing values and values that are not numbers are left out. 'reticent release quantile' selects one quantile \
by a private choice instead.

  reticent release median testdata/adult/adult.parquet \\
      --column age --bounds 0,120 --epsilon 1";

pub(crate) const QUANTILES: &str = "\
Several quantiles of a numeric column from one private tree of counts between --bounds: they cost what one of them costs, and \
never cross. Values outside are clamped. Missing values and values that are not numbers are left out.

  reticent release quantiles testdata/adult/adult.parquet \\
      --column age --bounds 0,120 --quantiles 0.1,0.5,0.9 --epsilon 1";

pub(crate) const COVARIANCE: &str = "\
The covariance of two numeric columns after their values are clamped to declared bounds. Rows without both values are left \
out.

  reticent release covariance testdata/adult/adult.parquet --epsilon 1 \\
      --columns 'age in 17,90 and hours_per_week in 0,99'";

pub(crate) const CORRELATION: &str = "\
The correlation of two numeric columns after their values are clamped to declared bounds. Rows without both values are left \
out.

  reticent release correlation testdata/flights/flights.parquet --epsilon 1 \\
      --columns 'dep_delay in -30,180 and arr_delay in -60,180'";

pub(crate) const TREND: &str = "\
The straight line of one numeric column on another by least squares: its slope and its intercept, after values are clamped \
to declared bounds. Rows without both values are left out.

  reticent release trend testdata/flights/flights.parquet --epsilon 1 \\
      --columns 'arr_delay in -60,180 on dep_delay in -30,180'";

pub(crate) const DISTINCT: &str = "\
How many of the declared values occur in a column. Values that are not declared are not counted: listing those of the data \
would reveal the rare ones.

  reticent release distinct testdata/flights/flights.parquet \\
      --column origin --categories EWR,JFK,LGA,ISP --epsilon 1";

pub(crate) const TOP: &str = "\
The most common of the declared categories, with their noisy counts.

  reticent release top testdata/flights/flights.parquet \\
      --column carrier --categories AA,B6,DL,EV,UA --k 3 --epsilon 1";

pub(crate) const CONTINGENCY: &str = "\
The number of rows in each combination of cells of two or more columns, with the totals of each column. A row is in one \
combination, so the whole table costs what one count costs.

  reticent release contingency testdata/adult/adult.parquet --epsilon 1 \\
      --columns 'sex of Female,Male and income of <=50K,>50K'";

pub(crate) const LIMITS: &str = "\
How many rows and groups people have, with noise, and limits that cover a share of them. Limits that are read off the data \
reveal the person who set them: this estimate is private and costs epsilon.

  reticent release limits testdata/flights/flights.parquet \\
      --unit tailnum --group-by origin --epsilon 0.1";
