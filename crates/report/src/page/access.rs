//! How strong an attacker is by what they see of the model.

use super::section::{Body, Cell, Figure};
use crate::dossier::Dossier;
use crate::plot::{Axis, DotPlot, DotRow, Mark};
use crate::words;
use reticent_audit::findings::{AccessFinding, AttackFinding};

/// A table and a chart of the strongest attack at every level of access; nothing where only predictions were seen.
pub(super) fn access(dossier: &Dossier, body: &mut Body) {
    let attack = |found: &AccessFinding| dossier.findings.attacks.iter().find(|own| own.name == found.attack);
    let found: Vec<(&AccessFinding, &AttackFinding)> =
        dossier.findings.by_access.iter().filter_map(|own| Some((own, attack(own)?))).collect();
    if found.is_empty() {
        return;
    }
    body.h3("By what the attacker sees");
    body.p("Each level includes those before it. At every level the attack is chosen without the target: by what it finds of reference \
            models, where these can stand in for it. If the intervals of two levels overlap, it is not shown that the weights reveal more \
            than the predictions.");
    let rows: Vec<Vec<Cell>> = found
        .iter()
        .map(|(own, attack)| {
            let measured = &attack.performance;
            vec![
                Cell::text(own.access.words()),
                Cell::text(&attack.name),
                Cell::number(words::estimate(&measured.auc)),
                Cell::number(words::estimate(&measured.balanced_accuracy)),
                Cell::text(&own.chosen),
            ]
        })
        .collect();
    let head = ["Attacker sees", "Attack", "AUC", "Balanced accuracy", "Chosen"];
    body.table("The strongest attack by access, with confidence intervals", &head, &rows);
    let row = |(place, (own, attack)): (usize, &(&AccessFinding, &AttackFinding))| {
        let auc = &attack.performance.auc;
        let mark = Mark::Interval { value: auc.value, low: auc.lower, high: auc.upper };
        DotRow {
            label: own.access.words().to_owned(),
            value: words::estimate(auc),
            mark: if words::sound(auc) { mark } else { Mark::Nothing },
            colour: place,
        }
    };
    let chart = DotPlot {
        title: "The strongest attack by what the attacker sees".to_owned(),
        x: Axis::unit("AUC (0.5 is guessing)"),
        rows: found.iter().enumerate().map(row).collect(),
        guides: vec![0.5],
    };
    let listed: Vec<String> = found
        .iter()
        .map(|(own, attack)| format!("{}: {}", own.access.words(), words::estimate(&attack.performance.auc)))
        .collect();
    let drawing = chart.page("access-chart", &format!("AUC by access. {}.", listed.join("; ")));
    let caption =
        "An interval that lies to the right of the one above it shows that the weights reveal more."
            .to_owned();
    body.figures([Figure { drawing, caption }]);
}
