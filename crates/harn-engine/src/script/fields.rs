//! Reads the members of an object that a script handed over, with messages that name the place.

use std::ops::RangeInclusive;

use rquickjs::{Array, Object, Value};

use super::input_error::InputError;
use super::text;

/// Why a member could not be read.
pub(super) enum ReadError {
    /// The script handed over something wrong.
    Input(InputError),
    /// Script code ran (a getter, say) and threw; the exception is pending in the engine.
    Thrown(rquickjs::Error),
}

impl From<InputError> for ReadError {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<rquickjs::Error> for ReadError {
    fn from(error: rquickjs::Error) -> Self {
        Self::Thrown(error)
    }
}

/// The result of reading.
pub(super) type Read<T> = Result<T, ReadError>;

/// An object whose member names have been checked. A member that is `undefined` counts as absent.
pub(super) struct Fields<'js> {
    place: String,
    object: Object<'js>,
}

impl<'js> Fields<'js> {
    /// Takes `value` as an object with no other members than `known`.
    pub(super) fn of(place: impl Into<String>, value: &Value<'js>, known: &[&str]) -> Read<Self> {
        Self::with_unsupported(place, value, known, &[])
    }

    /// As [`of`](Self::of); members in `unsupported` get a refusal of their own.
    pub(super) fn with_unsupported(
        place: impl Into<String>,
        value: &Value<'js>,
        known: &[&str],
        unsupported: &[&str],
    ) -> Read<Self> {
        let place = place.into();
        let object = value
            .as_object()
            .filter(|_| !value.is_array() && !value.is_function())
            .ok_or_else(|| InputError::NotAnObject { place: place.clone(), found: kind(value).to_owned() })?;
        for field in object.keys::<rquickjs::String<'js>>() {
            let field = text::from_js(&field?)?;
            if unsupported.contains(&field.as_str()) {
                return Err(InputError::Unsupported { place, field }.into());
            }
            if !known.contains(&field.as_str()) {
                let known = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                return Err(InputError::UnknownField { place, field, known }.into());
            }
        }
        Ok(Self { place, object: object.clone() })
    }

    /// The member, unless it is absent.
    pub(super) fn value(&self, field: &str) -> Read<Option<Value<'js>>> {
        let value: Value<'js> = self.object.get(field)?;
        Ok((!value.is_undefined()).then_some(value))
    }

    /// Text exactly as given; it may not be blank or contain a NUL character.
    pub(super) fn exact(&self, field: &str) -> Read<Option<String>> {
        self.value(field)?.map(|value| exact(&self.place, field, &value)).transpose()
    }

    /// Trimmed text of 1 to `limit` characters.
    pub(super) fn text(&self, field: &str, limit: usize) -> Read<Option<String>> {
        let Some(text) = self.exact(field)? else { return Ok(None) };
        let text = text.trim().to_owned();
        let length = text.chars().count();
        if length > limit {
            let (place, field) = (self.place.clone(), field.to_owned());
            return Err(InputError::TooLong { place, field, length, limit }.into());
        }
        Ok(Some(text))
    }

    /// Trimmed text that is cut to `limit` characters: a long label must not end a run that has already paid for
    /// its agents.
    pub(super) fn label(&self, field: &str, limit: usize) -> Read<Option<String>> {
        Ok(self.exact(field)?.map(|text| text::cut(text.trim(), limit)))
    }

    /// A whole number within `range`.
    pub(super) fn whole(&self, field: &str, range: RangeInclusive<u32>) -> Read<Option<u32>> {
        let Some(value) = self.value(field)? else { return Ok(None) };
        let (low, high) = (*range.start(), *range.end());
        let number = value.as_number();
        let whole = number.filter(|n| n.fract() == 0.0 && *n >= f64::from(low) && *n <= f64::from(high));
        let Some(whole) = whole else {
            let found = number.map_or_else(|| kind(&value).to_owned(), |number| number.to_string());
            return Err(self.invalid(field, &format!("a whole number from {low} to {high}"), found));
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be whole and in range"
        )]
        Ok(Some(whole as u32))
    }

    /// A list of strings, blank ones included; none may contain a NUL character.
    pub(super) fn strings(&self, field: &str) -> Read<Option<Vec<String>>> {
        let Some(list) = self.list(field)? else { return Ok(None) };
        let strings =
            (0..list.len()).map(|at| string(&self.place, &format!("{field}[{at}]"), &list.get(at)?));
        strings.collect::<Read<_>>().map(Some)
    }

    /// Trimmed ids; duplicates collapse.
    pub(super) fn ids(&self, field: &str) -> Read<Vec<String>> {
        let mut ids = Vec::new();
        for (at, id) in self.strings(field)?.unwrap_or_default().into_iter().enumerate() {
            let id = id.trim().to_owned();
            if id.is_empty() {
                return Err(self.invalid(&format!("{field}[{at}]"), "an id", "blank text".to_owned()));
            }
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// An array.
    pub(super) fn list(&self, field: &str) -> Read<Option<Array<'js>>> {
        let Some(value) = self.value(field)? else { return Ok(None) };
        match value.as_array() {
            Some(list) => Ok(Some(list.clone())),
            None => Err(self.invalid(field, "an array", kind(&value).to_owned())),
        }
    }

    /// The refusal of a member that must be there and is not.
    pub(super) fn missing(&self, field: &str, expected: &str) -> ReadError {
        self.invalid(field, expected, "nothing".to_owned())
    }

    /// The refusal of a member with the wrong value.
    pub(super) fn invalid(&self, field: &str, expected: &str, found: String) -> ReadError {
        let (place, field, expected) = (self.place.clone(), field.to_owned(), expected.to_owned());
        InputError::Invalid { place, field, expected, found }.into()
    }
}

/// `value` as text that is not blank and has no NUL character; `field` names it in the refusal.
pub(super) fn exact(place: &str, field: &str, value: &Value<'_>) -> Read<String> {
    let text = string(place, field, value)?;
    if text.trim().is_empty() {
        return Err(not_text(place, field, "blank text").into());
    }
    Ok(text)
}

fn string(place: &str, field: &str, value: &Value<'_>) -> Read<String> {
    let Some(string) = value.as_string() else { return Err(not_text(place, field, kind(value)).into()) };
    let text = text::from_js(string)?;
    if text.contains('\0') {
        return Err(not_text(place, field, "text with a NUL character").into());
    }
    Ok(text)
}

fn not_text(place: &str, field: &str, found: &str) -> InputError {
    InputError::Invalid {
        place: place.to_owned(),
        field: field.to_owned(),
        expected: "text".to_owned(),
        found: found.to_owned(),
    }
}

/// The kind of `value` in words.
pub(super) fn kind(value: &Value<'_>) -> &'static str {
    match () {
        () if value.is_undefined() => "nothing",
        () if value.is_null() => "`null`",
        () if value.is_bool() => "a boolean",
        () if value.is_number() => "a number",
        () if value.is_big_int() => "a bigint",
        () if value.is_string() => "text",
        () if value.is_symbol() => "a symbol",
        () if value.is_array() => "an array",
        () if value.is_function() => "a function",
        () if value.is_promise() => "a promise",
        () => "an object",
    }
}
