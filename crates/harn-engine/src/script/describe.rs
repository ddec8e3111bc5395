//! Puts JavaScript values into words: thrown ones for the record, logged ones for people.

use rquickjs::{Ctx, Exception, Object, Value};

use super::fields::kind;
use super::text;

/// The message and the stack of something that was thrown; each is absent when there is nothing to read.
pub(super) fn thrown<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> (Option<String>, Option<String>) {
    if value.is_null() || value.is_undefined() {
        return (None, None);
    }
    let Some(error) = value.as_object().cloned().and_then(Exception::from_object) else {
        let message = value.as_object().and_then(|object| string_member(ctx, object, "message"));
        return (message.or_else(|| text::unless_blank(shown(ctx, value))), None);
    };
    let message = string_member(ctx, error.as_object(), "message");
    let message = message.map(|message| match string_member(ctx, error.as_object(), "name") {
        Some(name) if name != "Error" => format!("{name}: {message}"),
        _ => message,
    });
    (message, string_member(ctx, error.as_object(), "stack"))
}

/// The values of one log call in one line, separated by spaces.
pub(super) fn logged<'js>(ctx: &Ctx<'js>, values: &[Value<'js>]) -> String {
    values.iter().map(|value| shown(ctx, value)).collect::<Vec<_>>().join(" ")
}

fn shown<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> String {
    let attempt = || -> rquickjs::Result<Option<String>> {
        if let Some(string) = value.as_string() {
            return text::from_js(string).map(Some);
        }
        if value.is_error() {
            let (message, stack) = thrown(ctx, value);
            let parts = [Some(message.unwrap_or_else(|| "Error".to_owned())), stack];
            return Ok(Some(parts.into_iter().flatten().collect::<Vec<_>>().join("\n")));
        }
        if value.is_object() && !value.is_function() {
            return text::json(ctx, value.clone());
        }
        if value.is_function() || value.is_symbol() {
            return Ok(None);
        }
        value.get::<rquickjs::Coerced<String>>().map(|text| Some(text.0))
    };
    attempt()
        .unwrap_or_else(|_| {
            ctx.catch();
            None
        })
        // A value with no text of its own, or one whose own code threw.
        .unwrap_or_else(|| kind(value).to_owned())
}

fn string_member<'js>(ctx: &Ctx<'js>, object: &Object<'js>, name: &str) -> Option<String> {
    let text =
        object.get::<_, Value<'js>>(name).and_then(|value| value.as_string().map(text::from_js).transpose());
    let text = text.unwrap_or_else(|_| {
        ctx.catch();
        None
    });
    text.and_then(text::unless_blank)
}
