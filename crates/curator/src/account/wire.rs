//! Names of accountants and directions, and orders up to infinity, in JSON.

use reticent_accounting::CompositionMethod;
use reticent_accounting::tight::Direction;
use serde::Serializer;

/// The name of an accountant.
pub(super) fn method<S: Serializer>(method: &CompositionMethod, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(method.name())
}

/// The direction that decides.
pub(super) fn direction<S: Serializer>(direction: &Direction, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match direction {
        Direction::Remove => "remove",
        Direction::Add => "add",
    })
}

/// The name of an accountant, or null.
pub(super) mod method_or_none {
    use reticent_accounting::CompositionMethod;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// The name, or null.
    pub(in super::super) fn serialize<S: Serializer>(
        method: &Option<CompositionMethod>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        method.map(CompositionMethod::name).serialize(serializer)
    }

    /// The accountant of a name.
    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<CompositionMethod>, D::Error> {
        let name: Option<String> = Option::deserialize(deserializer)?;
        name.map(|name| name.parse().map_err(D::Error::custom)).transpose()
    }
}

/// Orders as numbers; infinity as `"inf"`.
pub(super) mod orders {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Order {
        Number(f64),
        Name(String),
    }

    /// Numbers, and `"inf"`.
    pub(in super::super) fn serialize<S: Serializer>(
        orders: &[f64],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let wire = |order: &f64| match *order {
            f64::INFINITY => Order::Name("inf".to_owned()),
            order => Order::Number(order),
        };
        serializer.collect_seq(orders.iter().map(wire))
    }

    /// Numbers, and `"inf"`.
    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<f64>, D::Error> {
        let orders: Vec<Order> = Vec::deserialize(deserializer)?;
        let number = |order| match order {
            Order::Number(order) => Ok(order),
            Order::Name(name) if name == "inf" => Ok(f64::INFINITY),
            Order::Name(name) => Err(D::Error::custom(format!("order {name}: give a number, or \"inf\""))),
        };
        orders.into_iter().map(number).collect()
    }
}
