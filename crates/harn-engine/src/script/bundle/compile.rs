//! Compiling and linking a workflow without evaluating a line of it.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{CatchResultExt as _, CaughtError, Context, Ctx, Error, Exception, Runtime};

use super::literals::{UnknownKind, unknown_kind};
use super::source::Source;
use super::{LoadError, MAX_FILES, Module, specifier};
use crate::script::EvidenceKind;
use crate::script::engine_thread::{self, ThreadFailed};
use crate::script::options::{DEFAULT_MEMORY_LIMIT, DEFAULT_STACK_LIMIT};

/// A module that throws when it is evaluated. Importing it first lets the engine link everything imported after it
/// and then stop: modules are evaluated in the order in which they are imported.
const GUARD: &str = "harn:guard";

/// Compiles `entry` and everything it imports; the result lists every module once, the entry first.
pub(super) fn compile(entry: String, source: Source) -> Result<Vec<Module>, LoadError> {
    engine_thread::run(DEFAULT_STACK_LIMIT, move || compile_here(&entry, source))
        .map_err(|ThreadFailed(error)| LoadError::Engine { message: error.to_string() })?
}

fn compile_here(entry: &str, source: Source) -> Result<Vec<Module>, LoadError> {
    let runtime = Runtime::new().map_err(|error| engine(&error))?;
    runtime.set_max_stack_size(DEFAULT_STACK_LIMIT);
    runtime.set_memory_limit(DEFAULT_MEMORY_LIMIT);
    let gathered =
        Rc::new(RefCell::new(Gathered { source, modules: Vec::new(), importer: None, fault: None }));
    runtime.set_loader(GatheringResolver(Rc::clone(&gathered)), GatheringLoader(Rc::clone(&gathered)));
    let context = Context::full(&runtime).map_err(|error| engine(&error))?;
    context.with(|ctx| {
        let text = gathered.borrow_mut().take(entry)?;
        let declared = rquickjs::Module::declare(ctx.clone(), entry, text).map(|_| ()).catch(&ctx);
        if let Some(fault) = gathered.borrow_mut().fault.take() {
            return Err(fault);
        }
        declared.map_err(|caught| syntax(&caught))?;
        link(&ctx, entry)
    })?;
    let modules = std::mem::take(&mut gathered.borrow_mut().modules);
    Ok(modules)
}

/// Everything the loader needs to know, and the first thing that went wrong in it.
struct Gathered {
    source: Source,
    modules: Vec<Module>,
    importer: Option<String>,
    fault: Option<LoadError>,
}

impl Gathered {
    fn take(&mut self, file: &str) -> Result<String, LoadError> {
        if self.modules.len() == MAX_FILES {
            return Err(LoadError::TooManyFiles { file: file.to_owned(), limit: MAX_FILES });
        }
        let text = self.source.text(file, self.importer.as_deref())?;
        if let Some(UnknownKind { line, kind }) = unknown_kind(&text) {
            let expected = &EvidenceKind::WORDS;
            return Err(LoadError::EvidenceKind { file: file.to_owned(), line, kind, expected });
        }
        self.modules.push(Module::new(file.to_owned(), text.clone()));
        Ok(text)
    }

    /// Keeps the first fault and gives the engine an error that ends the compilation.
    fn fail(&mut self, fault: LoadError) -> Error {
        let error = Error::new_loading(fault.to_string());
        self.fault.get_or_insert(fault);
        error
    }
}

struct GatheringResolver(Rc<RefCell<Gathered>>);

impl Resolver for GatheringResolver {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        // The wrapper modules of `link` name modules that are already there.
        if base.starts_with("harn:") {
            return Ok(name.to_owned());
        }
        let (importer, specifier) = (base.to_owned(), name.to_owned());
        if attributes.is_some() {
            return Err(self.0.borrow_mut().fail(LoadError::Attributes { importer, specifier }));
        }
        let Some(path) = specifier::resolve(base, name) else {
            return Err(self.0.borrow_mut().fail(LoadError::NotRelative { importer, specifier }));
        };
        self.0.borrow_mut().importer = Some(importer);
        Ok(path)
    }
}

struct GatheringLoader(Rc<RefCell<Gathered>>);

impl Loader for GatheringLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<rquickjs::Module<'js, Declared>> {
        let taken = self.0.borrow_mut().take(name);
        let text = taken.map_err(|fault| self.0.borrow_mut().fail(fault))?;
        rquickjs::Module::declare(ctx.clone(), name, text)
    }
}

/// Checks that every imported name is exported, and that the entry has a default export.
fn link(ctx: &Ctx<'_>, entry: &str) -> Result<(), LoadError> {
    rquickjs::Module::declare(ctx.clone(), GUARD, "throw 0;").map_err(|error| engine(&error))?;
    let name = serde_json::Value::from(entry).to_string();
    let linked = |wrapper: &str, import: String| {
        let source = format!("import '{GUARD}'; {import}");
        let module = rquickjs::Module::declare(ctx.clone(), wrapper, source)?;
        // An error here is a link error; the guard's throw only rejects the promise.
        module.eval().map(|_| ())
    };
    linked("harn:all", format!("import {name};"))
        .catch(ctx)
        .map_err(|caught| LoadError::Link { message: message_of(&caught) })?;
    linked("harn:default", format!("import main from {name};"))
        .catch(ctx)
        .map_err(|_| LoadError::NoDefaultExport { file: entry.to_owned() })
}

fn syntax(caught: &CaughtError<'_>) -> LoadError {
    let position = match caught {
        CaughtError::Exception(exception) => position_of(exception),
        CaughtError::Error(_) | CaughtError::Value(_) => None,
    };
    let message = message_of(caught);
    match position {
        Some((file, line, column)) => {
            LoadError::Syntax { file: Some(file), line: Some(line), column: Some(column), message }
        }
        None => LoadError::Syntax { file: None, line: None, column: None, message },
    }
}

fn message_of(caught: &CaughtError<'_>) -> String {
    match caught {
        CaughtError::Exception(exception) => exception.message().unwrap_or_default(),
        CaughtError::Error(error) => error.to_string(),
        CaughtError::Value(_) => "out of memory".to_owned(),
    }
}

/// Reads `    at FILE:LINE:COLUMN`, the first line of a syntax error's stack.
fn position_of(exception: &Exception<'_>) -> Option<(String, u32, u32)> {
    let stack = exception.stack()?;
    let place = stack.lines().next()?.trim_start().strip_prefix("at ")?;
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some((parts.next()?.to_owned(), line, column))
}

fn engine(error: &Error) -> LoadError {
    LoadError::Engine { message: error.to_string() }
}
