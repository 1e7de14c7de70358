//! What follows from the list of kinds: everything that must know all of them is made here, from the one list.

/// Turns the list of kinds into [`Event`](super::Event), the views in [`kind`](super::kind), the
/// [`Visitor`](super::Visitor), and the functions that go through the fields of any kind.
///
/// A kind is `Name as json_name, checked by function { fields }`. The function checks what the types of the fields cannot. A
/// field whose JSON is not that of its type names another type that reads it: `field: type as other`.
macro_rules! kinds {
    (
        ($dollar:tt)
        $(#[$enum_attribute:meta])*
        pub enum Event;
        $(
            $(#[doc = $doc:expr])*
            $Kind:ident as $name:ident, checked by $check:path {
                $(
                    $(#[doc = $field_doc:expr])*
                    $(#[serde($($serde:tt)*)])?
                    $field:ident: $type:ty $(as $wire:ty)?,
                )*
            }
        )*
    ) => {
        $(#[$enum_attribute])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case", deny_unknown_fields)]
        #[non_exhaustive]
        pub enum Event {
            $(
                $(#[doc = $doc])*
                $Kind {
                    $(
                        $(#[doc = $field_doc])*
                        $(#[serde($($serde)*)])?
                        $field: $type,
                    )*
                },
            )*
        }

        /// One event of a known kind: its fields, borrowed. What is known of a kind is implemented for its view.
        pub mod kind {
            use super::*;
            $(
                $(#[doc = $doc])*
                #[derive(Debug, Clone, Copy)]
                pub struct $Kind<'a> {
                    $(
                        $(#[doc = $field_doc])*
                        pub $field: &'a $type,
                    )*
                }
            )*
        }

        /// Something to be done with an event, whatever its kind: one method for each.
        ///
        /// [`Event`] may get more kinds, so a `match` over it in another crate needs a last arm for those that it does not
        /// name. An implementation of this trait has no such arm: where a kind is added, the compiler names it.
        pub trait Visitor {
            /// What comes of it.
            type Output;
            $(
                #[doc = concat!("Meets an event of the kind `", stringify!($name), "`.")]
                fn $name(self, event: kind::$Kind<'_>) -> Self::Output;
            )*
        }

        /// Calls a macro with the list of kinds, `json_name Name,` for each, so that it can implement [`Visitor`] for all of
        /// them alike.
        ///
        /// [`Visitor`]: crate::event::Visitor
        #[macro_export]
        macro_rules! event_kinds {
            ($dollar callback:ident) => {
                $dollar callback! { $($name $Kind,)* }
            };
        }

        /// The first word of a key.
        #[repr(u64)]
        enum Tag {
            $($Kind,)*
        }

        // Of the fields of a kind one at most holds events, so these are a slice.
        $(const _: () = assert!(0 $(+ <$type as Field>::HOLDS_EVENTS as u8)* <= 1);)*

        impl Event {
            /// Every kind by its name in JSON, with its fields in their order.
            pub const KINDS: &'static [EventForm] = &[
                $(EventForm {
                    name: stringify!($name),
                    fields: &[$(FieldShape {
                        name: stringify!($field),
                        is_optional: <$type as Field>::IS_OPTIONAL,
                    },)*],
                },)*
            ];

            /// The name of its kind in JSON.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$Kind { .. } => stringify!($name),)*
                }
            }

            /// Does what the visitor does with its kind.
            pub fn visit<V: Visitor>(&self, visitor: V) -> V::Output {
                match self {
                    $(Self::$Kind { $($field),* } => visitor.$name(kind::$Kind { $($field),* }),)*
                }
            }

            /// The events that it is made of; none for most.
            pub fn children(&self) -> &[Self] {
                match self {
                    $(Self::$Kind { $($field),* } => {
                        [$(Field::events($field),)*].into_iter().find(|own| !own.is_empty()).unwrap_or_default()
                    })*
                }
            }

            /// The same event, made of what becomes of the events that it is made of.
            ///
            /// # Errors
            /// The first error of `each`.
            pub fn try_map<E>(
                &self,
                each: &mut dyn FnMut(&Self) -> Result<Self, E>,
            ) -> Result<Self, E> {
                Ok(match self {
                    $(Self::$Kind { $($field),* } => {
                        Self::$Kind { $($field: Field::mapped($field, each)?),* }
                    })*
                })
            }

            /// Shows every number that calibration may set to `turn`: its own, and those of the events inside it.
            pub fn turn_knobs(&mut self, turn: &mut dyn FnMut(Knob<'_>)) {
                match self {
                    $(Self::$Kind { $($field),* } => {
                        $(Field::knobs($field, turn);)*
                    })*
                }
            }

            fn write_key(&self, key: &mut Vec<u64>) {
                match self {
                    $(Self::$Kind { $($field),* } => {
                        key.push(Tag::$Kind as u64);
                        $(Field::write_key($field, key);)*
                    })*
                }
            }

            /// Checks what the types of its own fields cannot.
            fn check(&self) -> Result<(), InvalidValue> {
                match self {
                    $(Self::$Kind { $($field),* } => $check(&kind::$Kind { $($field),* }),)*
                }
            }

            /// An event of the kind with this name in JSON, from its fields; none where there is no such kind.
            fn from_fields(name: &str, mut fields: Fields) -> Result<Option<Self>, ReadProblem> {
                $(
                    if name == stringify!($name) {
                        return Ok(Some(Self::$Kind {
                            $($field: fields
                                .read::<first_type!($($wire,)? $type)>(stringify!($field))?
                                .into(),)*
                        }));
                    }
                )*
                Ok(None)
            }
        }
    };
}

/// The first of one or two types.
macro_rules! first_type {
    ($first:ty) => {
        $first
    };
    ($first:ty, $second:ty) => {
        $first
    };
}
