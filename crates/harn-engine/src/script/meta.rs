//! `export const meta`: what a workflow says about itself.

use std::path::Path;

use rquickjs::Value;

use super::fields::{Fields, Read};
use super::input_error::InputError;
use super::text;

const NAME_LIMIT: usize = 200;
const TEXT_LIMIT: usize = 2_000;
const STATEMENT_LIMIT: usize = 500;
const ID_LIMIT: usize = 64;
const MAX_CRITERIA: usize = 50;

/// What a workflow says about itself. All text is trimmed; lengths are Unicode scalar values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// 1 to 200 characters; the file name without its extension when the workflow gives none.
    pub name: String,
    /// 1 to 2,000 characters.
    pub description: Option<String>,
    /// 1 to 2,000 characters.
    pub objective: Option<String>,
    /// At most 50 criteria with unique ids.
    pub acceptance: Vec<Criterion>,
}

/// One acceptance criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// A letter or digit and up to 63 letters, digits, `.`, `_` and `-`; ASCII only, and not beginning with `item.`.
    pub id: String,
    /// 1 to 500 characters.
    pub statement: String,
}

impl Meta {
    /// Reads the export; a workflow without `meta`, or without a name in it, is named after the file at `path`.
    pub(super) fn read(meta: &Value<'_>, path: &str) -> Read<Self> {
        let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).map(str::trim);
        let stem = stem.filter(|stem| !stem.is_empty()).unwrap_or("workflow");
        let fallback = || text::cut(stem, NAME_LIMIT);
        if meta.is_undefined() {
            return Ok(Self { name: fallback(), description: None, objective: None, acceptance: Vec::new() });
        }
        let fields = Fields::of("meta", meta, &["name", "description", "objective", "acceptance"])?;
        Ok(Self {
            name: fields.text("name", NAME_LIMIT)?.unwrap_or_else(fallback),
            description: fields.text("description", TEXT_LIMIT)?,
            objective: fields.text("objective", TEXT_LIMIT)?,
            acceptance: read_acceptance(&fields)?,
        })
    }
}

fn read_acceptance(meta: &Fields<'_>) -> Read<Vec<Criterion>> {
    let Some(list) = meta.list("acceptance")? else { return Ok(Vec::new()) };
    let (count, limit) = (list.len(), MAX_CRITERIA);
    if count > limit {
        let (place, field) = ("meta".to_owned(), "acceptance".to_owned());
        return Err(InputError::TooMany { place, field, count, limit }.into());
    }
    let mut criteria = Vec::<Criterion>::with_capacity(count);
    for at in 0..count {
        let place = format!("meta.acceptance[{at}]");
        let fields = Fields::of(place.as_str(), &list.get(at)?, &["id", "statement"])?;
        let criterion = read_criterion(&fields)?;
        if criteria.iter().any(|earlier| earlier.id == criterion.id) {
            return Err(InputError::Duplicate { place, field: "id".to_owned(), value: criterion.id }.into());
        }
        criteria.push(criterion);
    }
    Ok(criteria)
}

fn read_criterion(fields: &Fields<'_>) -> Read<Criterion> {
    const ID: &str = "a letter or digit and letters, digits, `.`, `_`, `-`";
    let id = fields.text("id", ID_LIMIT)?.ok_or_else(|| fields.missing("id", ID))?;
    let fits = id.starts_with(|first: char| first.is_ascii_alphanumeric())
        && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    if !fits {
        return Err(fields.invalid("id", ID, format!("`{id}`")));
    }
    // Evidence cites the acceptance texts of the work item by these.
    if id.starts_with("item.") {
        return Err(fields.invalid("id", "an id that does not begin with `item.`", format!("`{id}`")));
    }
    let statement =
        fields.text("statement", STATEMENT_LIMIT)?.ok_or_else(|| fields.missing("statement", "text"))?;
    Ok(Criterion { id, statement })
}
