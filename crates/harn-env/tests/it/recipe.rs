//! What is a recipe, and which one governs.

use harn_env::recipe::{Chosen, InvalidRecipe, Origin, PROJECT_FILES, Recipe, choose};
use serde_json::{Value, json};

fn whole() -> Value {
    json!({
        "schema": "environment.v1",
        "setup": [{ "name": "install", "argv": ["npm", "ci"], "timeout_seconds": 180 }],
        "tools": [{ "name": "node", "command": { "name": "version", "argv": ["node", "--version"] }, "expect": ">=20" }],
        "baseline": [
            { "name": "unit", "argv": ["npm", "test"], "cwd": "packages/core" },
            { "name": "lint", "argv": ["npm", "run", "lint"], "timeout_seconds": 1 },
        ],
        "inputs": ["scripts/setup.sh"],
    })
}

fn parse(recipe: &Value) -> Result<Recipe, InvalidRecipe> {
    Recipe::parse(recipe.to_string().as_bytes())
}

#[test]
fn a_recipe_is_read_and_has_one_form() {
    let recipe = parse(&whole()).unwrap();
    assert_eq!((recipe.setup[0].timeout(), recipe.baseline[0].timeout()), (180, 30));
    assert_eq!(recipe.baseline[0].cwd.as_ref().unwrap().as_str(), "packages/core");
    let pretty = serde_json::to_string_pretty(&whole()).unwrap();
    let again = Recipe::parse(pretty.as_bytes()).unwrap();
    assert_eq!(again.digest(), recipe.digest());
    assert_eq!(Recipe::parse(recipe.canonical().as_bytes()).unwrap(), recipe);
    let least = parse(&json!({ "schema": "environment.v1" })).unwrap();
    assert!(least.setup.is_empty() && least.inputs.is_empty());
    assert_ne!(least.digest(), recipe.digest());
}

/// B03, B04: whatever is not a recipe is refused before any of its commands runs, and the place is named.
#[test]
fn b_03_b_04_what_is_not_a_recipe_is_refused_with_its_place() {
    let set = |pointer: &str, value: Value| {
        let mut recipe = whole();
        *recipe.pointer_mut(pointer).unwrap() = value;
        recipe
    };
    let add = |pointer: &str, name: &str, value: Value| {
        let mut recipe = whole();
        recipe.pointer_mut(pointer).unwrap().as_object_mut().unwrap().insert(name.to_owned(), value);
        recipe
    };
    let command = |name: &str| json!({ "name": name, "argv": ["true"] });
    let many = |count: usize| Value::Array((0..count).map(|it| command(&format!("c{it}"))).collect());
    let cases: Vec<(Value, &str, &str)> = vec![
        (add("", "stages", json!([])), "recipe_form", "unknown field `stages`"),
        (add("/setup/0", "shell", json!(true)), "recipe_form", "unknown field `shell`"),
        (set("/schema", json!("environment.v2")), "recipe_form", "environment.v2"),
        (set("/setup/0/timeout_seconds", json!("30")), "recipe_form", "invalid type: string"),
        (set("/setup/0/timeout_seconds", json!(0)), "recipe_form", "is 0, expected 1 to 180"),
        (set("/setup/0/timeout_seconds", json!(181)), "recipe_form", "is 181, expected 1 to 180"),
        (set("/setup/0/timeout_seconds", json!(1.5)), "recipe_form", "floating point"),
        (
            set("/inputs/0", json!("../outside")),
            "recipe_form",
            "`../outside` is not a path below the project",
        ),
        (set("/inputs/0", json!("src/*.rs")), "recipe_form", "without `.`, `..` or a pattern"),
        (set("/inputs/0", json!("/etc/passwd")), "recipe_form", "not a path below the project"),
        (set("/inputs/0", json!("a//b")), "recipe_form", "not a path below the project"),
        (set("/baseline/0/cwd", json!("..")), "recipe_form", "not a path below the project"),
        (set("/inputs", json!(["a", "b", "a"])), "recipe_twice", "`inputs[2]` is `a`"),
        (set("/baseline/1/name", json!("unit")), "recipe_twice", "`baseline[1].name` is `unit`"),
        (set("/baseline/1/name", json!(" ")), "recipe_member", "`baseline[1].name`"),
        (set("/setup/0/argv", json!([])), "recipe_member", "`setup[0].argv`"),
        (set("/setup/0/argv", json!([""])), "recipe_member", "`setup[0].argv`"),
        (set("/setup/0/argv", json!(["a", "b\u{0}"])), "recipe_member", "`setup[0].argv`"),
        (set("/setup/0/argv", json!(vec!["x"; 129])), "recipe_member", "`setup[0].argv`"),
        (set("/tools/0/command/argv", json!([])), "recipe_member", "`tools[0].command.argv`"),
        (set("/tools/0/expect", json!(">= one")), "recipe_form", "not a range of versions"),
        (set("/setup", many(17)), "recipe_too_many", "`setup` has 17 entries, expected at most 16"),
        (set("/baseline", many(33)), "recipe_too_many", "`baseline` has 33"),
    ];
    for (recipe, code, words) in cases {
        let error = parse(&recipe).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let long = format!("{}{}", whole(), " ".repeat(64 << 10));
    assert_eq!(Recipe::parse(long.as_bytes()).unwrap_err().code(), "recipe_too_long");
    assert_eq!(Recipe::parse(b"{\"schema\":").unwrap_err().code(), "recipe_form");
}

/// B01: the plan's recipe replaces the project's as a whole. B02: that there is none is said.
#[test]
fn b_01_b_02_one_recipe_governs_or_none() {
    let (plan, project) = (whole().to_string(), json!({ "schema": "environment.v1" }).to_string());
    let [first, second] = PROJECT_FILES.map(|path| (path, project.as_bytes()));
    let origin = |plan: Option<&str>, files: &[(&str, &[u8])]| match choose(plan.map(str::as_bytes), files) {
        Ok(Chosen::Recipe { origin, recipe }) => Some((origin, recipe.setup.len())),
        Ok(Chosen::None) => None,
        Err(error) => panic!("{error}"),
    };
    let of = |path: &str| Origin::Project { path: path.to_owned() };
    assert_eq!(origin(Some(&plan), &[first, second]), Some((Origin::Plan, 1)));
    assert_eq!(origin(None, &[first, second]), Some((of(".harn/environment.json"), 0)));
    assert_eq!(origin(None, &[second]), Some((of(".sprowt/environment.json"), 0)));
    assert_eq!(origin(None, &[]), None);
    // A plan's recipe that is none is not made up for by the project's.
    assert!(choose(Some(b"{}"), &[first]).is_err());
}
