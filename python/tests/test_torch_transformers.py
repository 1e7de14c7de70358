"""Models of transformers and peft, with random weights."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from reticent.errors import RequestError  # noqa: E402
from reticent.torch import PrivacyEngine, sequence_loss  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

SMALL = {"vocab_size": 50, "num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32,
         "max_position_embeddings": 16}  # fmt: skip


def rows(is_language):
    generator = torch.Generator().manual_seed(1)
    for _ in range(20):
        x = torch.randint(0, 50, (8,), generator=generator)
        yield {"input_ids": x, "attention_mask": torch.ones(8, dtype=torch.long), "labels": x if is_language else x[0] % 2}


def trained(model, is_language, own_loss=True):
    engine = PrivacyEngine()
    optimizer = torch.optim.AdamW([own for own in model.parameters() if own.requires_grad], lr=1e-3)
    _, _, loader = engine.make_private(
        module=model, optimizer=optimizer, data_loader=DataLoader(list(rows(is_language)), batch_size=10),
        noise_multiplier=1.0, max_grad_norm=1.0, epochs=1,
    )  # fmt: skip
    model.train()
    for batch in loader:
        if own_loss:
            loss = model(**batch).loss
        else:
            labels = batch.pop("labels")
            loss = sequence_loss(model(**batch).logits, labels, shift=True)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert engine.steps == 2


def bert():
    return transformers.BertForSequenceClassification(transformers.BertConfig(**SMALL))


def gpt2():
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=50, n_embd=16, n_layer=2, n_head=2, n_positions=16, bos_token_id=0, eos_token_id=0)
    )


def llama():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL, num_key_value_heads=1))


def test_a_classifier():
    trained(bert(), False)


def test_a_classifier_with_lora():
    peft = pytest.importorskip("peft")
    config = peft.LoraConfig(task_type="SEQ_CLS", r=2, target_modules=["query", "value"])
    trained(peft.get_peft_model(bert(), config), False)


def test_a_notebook_trains_one_model_after_the_other_on_one_loader():
    """As Opacus's tutorial on texts: last layers in parts, then with a criterion, then by LoRA; every model takes the loader of the one
    before, and moves to its device once it is private."""
    peft = pytest.importorskip("peft")
    from reticent.torch.utils.batch_memory_manager import BatchMemoryManager
    from reticent.torch.utils.uniform_sampler import UniformWithReplacementSampler  # noqa: F401
    from torch import nn
    from torch.utils.data import TensorDataset

    def frozen(model):
        for own in model.parameters():
            own.requires_grad = False
        for layer in (model.bert.encoder.layer[-1], model.bert.pooler, model.classifier):
            for own in layer.parameters():
                own.requires_grad = True
        return model.train()

    def inputs(batch):
        return dict(zip(("input_ids", "attention_mask", "token_type_ids", "labels"), batch, strict=True))

    def accuracy(model):
        model.eval()
        with torch.no_grad():
            _, logits = model(**inputs(data[:6]))[:2]
        model.train()
        return float((logits.argmax(1) == data[:6][3]).double().mean())

    x = torch.randint(0, 50, (40, 8), generator=torch.Generator().manual_seed(2))
    data = TensorDataset(x, torch.ones_like(x), torch.zeros_like(x), x[:, 0] % 2)
    loader = DataLoader(data, batch_size=10)
    options = {"target_epsilon": 7.5, "target_delta": 1 / len(data), "epochs": 2, "max_grad_norm": 0.1}

    model, engine = frozen(bert()), PrivacyEngine()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, eps=1e-8)
    model, optimizer, loader = engine.make_private_with_epsilon(module=model, optimizer=optimizer, data_loader=loader, **options)
    for _ in range(2):
        with BatchMemoryManager(data_loader=loader, max_physical_batch_size=4, optimizer=optimizer) as parts:
            for batch in parts:
                optimizer.zero_grad()
                model(**inputs(batch))[0].backward()
                optimizer.step()
                assert 0 <= accuracy(model) <= 1
    assert engine.steps == 8 and engine.get_epsilon(1 / len(data)) <= 7.5

    config = peft.LoraConfig(task_type=peft.TaskType.SEQ_CLS, inference_mode=False, r=4, lora_alpha=4, lora_dropout=0.05)
    for model in (frozen(bert()), peft.get_peft_model(bert(), config).train()):
        engine, criterion = PrivacyEngine(), nn.CrossEntropyLoss(reduction="mean")
        optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, eps=1e-8)
        private, optimizer, criterion, loader = engine.make_private_with_epsilon(
            module=model, optimizer=optimizer, data_loader=loader, criterion=criterion, grad_sample_mode="ghost", **options
        )
        private = private.to(torch.device("cpu")).train()
        for _ in range(2):
            for batch in loader:
                optimizer.zero_grad()
                criterion(private(**inputs(batch))[1], batch[3]).backward()
                optimizer.step()
        assert engine.steps == 8 and engine.get_epsilon(1 / len(data)) <= 7.5


@pytest.mark.parametrize("make", [gpt2, llama])
def test_language_models(make):
    trained(make(), True, own_loss=False)
    with pytest.raises(RequestError, match="sequence_loss"):
        trained(make(), True)


def test_the_trainer_of_transformers(tmp_path):
    pytest.importorskip("accelerate")
    model, data, engine = bert(), list(rows(False)), PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3), data_loader=DataLoader(data, batch_size=10),
        noise_multiplier=1.0, max_grad_norm=1.0, epochs=2,
    )  # fmt: skip
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path), num_train_epochs=2, report_to=[], save_strategy="no", use_cpu=True, disable_tqdm=True
    )
    trainer = transformers.Trainer(model=model, args=arguments, train_dataset=data, optimizers=(optimizer, None))
    trainer.get_train_dataloader = lambda: loader
    before = model.classifier.weight.clone()
    trainer.train()
    assert engine.steps == 4 and engine.steps_left == 0 and not torch.equal(before, model.classifier.weight)
