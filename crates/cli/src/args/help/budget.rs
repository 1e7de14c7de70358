//! The help below the flags of `budget`.

pub(crate) const BUDGET: &str = "\
A budget is a file that limits what everything computed from some people's data may cost together, across commands, processes \
and years. Verbs that read private data take --budget FILE: the exact cost is on record before any noise is drawn, and what would \
exceed the limit is refused. The limit holds also if questions are chosen after seeing earlier answers.

  reticent budget create hospital.budget --epsilon 3 --delta 1e-6 --data 'visits/*.parquet'
  reticent release count visits/january.parquet --epsilon 0.1 --budget hospital.budget
  reticent budget show hospital.budget

A budget belongs to people, not to a file: next month's visits of the same patients are added with 'budget add-data' and share \
the budget. Answers are remembered: the same question returns the same answer and costs nothing (a part of 'budget allot' that has not paid \
for it is charged); --refresh pays for a new one. A schema can name its budget with budget = \"hospital.budget\"; then --schema is enough.

A charge whose process was killed counts as spent. What the ledger cannot see, such as releases without --budget or a copy of its \
file, it cannot limit: see 'what the ledger cannot protect against' in the documentation.";

pub(crate) const CREATE: &str = "\
Make the budget of some people's data: a limit on epsilon and delta, whom it protects (--unit), under which neighboring relation, \
and which data belong to it. None of these can be changed later; data of the same people can be added.

How the files are read is settled too: a question with another --separator, --quoting, --missing, --decimal-comma, --encoding or \
--format than the budget has is refused, because what a row is would be another thing.

Choose the limit for everything that will ever be asked: 1 to 3 is usual. Give a delta if many questions are expected: with one, \
the cost of k small questions grows like the square root of k.

  reticent budget create hospital.budget --epsilon 3 --delta 1e-6 \\
      --unit patient_id --data 'visits/*.parquet' --valid-until 2027-01-01
  reticent budget create people.budget --epsilon 1 --data testdata/adult/adult.parquet";

pub(crate) const SHOW: &str = "\
The terms of a budget, what is spent at most, the largest epsilon of one more question, and the parts that were set aside.

  reticent budget show hospital.budget";

pub(crate) const HISTORY: &str = "\
Every charge: its number, when, who and what for, the question, its cost by itself, and whether an answer was given. A charge \
without an answer counts as spent, because its answer may have been seen.

  reticent budget history hospital.budget --last 20
  reticent budget history hospital.budget --analyst ana --json";

pub(crate) const ADD_DATA: &str = "\
Declare that other files hold data of the same people, such as next month's visits, or that files are read in another way. They share the budget: new data do not bring \
new budget, because the same people are in them.

  reticent budget add-data hospital.budget 'visits-2027/*.parquet'";

pub(crate) const ALLOT: &str = "\
Set a part of a budget aside for an analyst or a purpose. A charge with that --analyst or --purpose must fit the part and the \
whole budget. Parts may add up to more than the whole: the whole still limits everything. As soon as one analyst has a part, every \
charge must name an analyst who has one; the same holds for purposes. A remembered answer costs a part what it cost at first, once; the \
whole pays for it only the first time.

  reticent budget allot hospital.budget --analyst ana --epsilon 0.5
  reticent budget allot hospital.budget --purpose 'annual report' --epsilon 1 --delta 1e-7";

pub(crate) const CLOSE: &str = "\
Close a budget for good. Answers that were paid for, the history and exports stay available; nothing can be charged any more.

  reticent budget close hospital.budget";

pub(crate) const VERIFY: &str = "\
Recompute everything that is on record: the chain of digests over all charges, the state of the filter after each of them, the \
parts that were set aside, and the counter that tells a copy or an older state of the file from the latest one. The exit status is 2 \
if anything is wrong.

  reticent budget verify hospital.budget";

pub(crate) const EXPORT: &str = "\
The terms, every charge with its exact events, and the parts that were set aside, as JSON. It holds no data and no answers, so it \
can be attached to a certificate or a report, and anyone can add the events up again ('reticent account').

  reticent budget export hospital.budget --out ledger.json";

pub(crate) const PAGE: &str = "\
One self-contained HTML page: what is left over time, the sum of what was asked beside it, the parts that were set aside, and the \
latest charges. Nothing is loaded from elsewhere.

  reticent budget page hospital.budget --out spending.html";
