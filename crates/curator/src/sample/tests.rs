use super::*;
use crate::train::Train;
use reticent_noise::entropy::SeededForTests;

#[test]
fn tokens_are_drawn_by_their_probability() {
    let mut bits = SeededForTests::new(1);
    // Position 1 is the unknown token, which is never drawn.
    let scores = [0.0, 9.0, 3f32.ln(), f32::MIN];
    let mut shares = |rule: Rule| {
        let mut seen = [0u32; 4];
        (0..4000).for_each(|_| seen[rule.draw(&scores, &mut bits).unwrap() as usize] += 1);
        seen
    };
    let seen = shares(Rule::new(None, None).unwrap());
    // 3000 of 4000 with standard deviation 27.
    assert!(seen[1] == 0 && seen[3] == 0 && seen[2].abs_diff(3000) < 140, "{seen:?}");
    // At temperature 1/2 the odds are 9:1.
    let seen = shares(Rule::new(Some(0.5), None).unwrap());
    assert!(seen[2].abs_diff(3600) < 95, "{seen:?}");
    assert_eq!(shares(Rule::new(Some(0.0), None).unwrap())[2], 4000);
    assert_eq!(shares(Rule::new(None, Some(1)).unwrap())[2], 4000);
    let broken = Rule::new(None, None).unwrap().draw(&[f32::NAN, 0.0, 0.0], &mut bits);
    assert_eq!(broken, None);
    assert_eq!(Rule::new(Some(-1.0), None).unwrap_err().field(), Some("temperature"));
    assert_eq!(Rule::new(None, Some(0)).unwrap_err().field(), Some("top_k"));
}

/// A network that has learnt one text by heart gives it out.
#[test]
fn what_was_learnt_by_heart_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let (data, model) = (folder.path().join("t.csv"), folder.path().join("run"));
    std::fs::write(&data, format!("say\n{}", "abcabd\n".repeat(8))).unwrap();
    let text = |text: &str| Some(text.to_owned());
    let train = Train {
        data: Some(data.clone()),
        text_column: text("say"),
        tokens: Some(TokenKind::Characters),
        length: Some(8),
        model: text("lstm-lm"),
        optimizer: text("adam"),
        learning_rate: Some(0.02),
        steps: Some(40),
        batch_size: Some(8),
        non_private: Some(true),
        out: Some(model.clone()),
        ..Train::default()
    };
    let mut session = Session::without_limit().unwrap();
    train.check().unwrap().run(&mut session).unwrap();
    let greedy = Sample { temperature: Some(0.0), tokens: Some(20), count: Some(2), ..Sample::new(&model) };
    let sampled = greedy.check().unwrap().run(&mut session).unwrap();
    let whole = SampledText { text: "abcabd".to_owned(), tokens: 6, ended: true };
    assert_eq!(sampled.texts, [whole.clone(), whole]);
    let prompted = Sample { prompt: text("abca"), tokens: Some(1), count: None, ..greedy.clone() };
    let sampled = prompted.check().unwrap().run(&mut session).unwrap();
    assert_eq!(sampled.texts, [SampledText { text: "abcab".to_owned(), tokens: 1, ended: false }]);
    let odd = Sample { prompt: text("é"), tokens: Some(1), ..greedy.clone() };
    assert_eq!(odd.check().unwrap().run(&mut session).unwrap().warnings.len(), 1);
    for (bad, field) in [
        (Sample { tokens: Some(0), ..greedy.clone() }, "tokens"),
        (Sample { count: Some(0), ..greedy.clone() }, "count"),
        (Sample { count: Some(4096), tokens: Some(1 << 20), ..greedy }, "tokens"),
    ] {
        assert_eq!(bad.check().err().unwrap().field(), Some(field));
    }
    // Nobody may draw from a model without a certificate where a ledger is kept.
    let predicted = crate::predict::Predict::new(&model, &data).check().unwrap().run(&mut session);
    assert!(predicted.unwrap_err().to_string().contains("reticent sample"));
}
