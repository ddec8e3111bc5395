//! The engine's thread: loads the frozen modules, evaluates the workflow and drives it to its end.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Error, Exception, Function, Module, Object, Promise, Runtime, Value};

use super::bridge::{Bridge, Exhausted, Request};
use super::bundle::{Bundle, resolve};
use super::fields::{ReadError, kind};
use super::host::Next;
use super::natives::{Shared, natives};
use super::random::Random;
use super::{Contexts, Meta, ModuleError, Options, ScriptEnd, describe, exhaustion, text};

/// Runs the bundle. Every early end travels as the error.
pub(super) fn interpret(
    bundle: &Bundle,
    contexts: &Contexts,
    options: &Options,
    bridge: Bridge,
) -> ScriptEnd {
    let bridge = Rc::new(bridge);
    let shared = Shared { bridge: Rc::clone(&bridge), now_ms: Rc::new(Cell::new(options.start_ms)) };
    started(bundle, contexts, options, &shared).unwrap_or_else(|error| {
        // Only the start itself fails this way; a script's own errors are ends.
        bridge.end().unwrap_or(ScriptEnd::EngineFailed { message: error.to_string() })
    })
}

fn started(
    bundle: &Bundle,
    contexts: &Contexts,
    options: &Options,
    shared: &Shared,
) -> rquickjs::Result<ScriptEnd> {
    let runtime = Runtime::new()?;
    runtime.set_max_stack_size(options.granted_stack());
    runtime.set_loader(FrozenResolver(bundle.clone()), FrozenLoader(bundle.clone()));
    let bridge = Rc::clone(&shared.bridge);
    runtime.set_interrupt_handler(Some(Box::new(move || bridge.end().is_some())));
    let context = Context::full(&runtime)?;
    runtime.set_memory_limit(options.granted_memory().saturating_add(exhaustion::RESERVE));
    exhaustion::watch(&runtime, Rc::clone(&shared.bridge));
    context.with(|ctx| {
        let prelude = Prelude::install(&ctx, contexts, options, shared)?;
        let interpreter = Interpreter { ctx, shared, prelude };
        Ok(interpreter.script(bundle).unwrap_or_else(|end| end))
    })
}

/// What `prelude.js` returns.
struct Prelude<'js> {
    /// Calls the default export with `ctx` and returns a promise of its result.
    start: Function<'js>,
    /// Settles the promise of a call: `(call, succeeded, value or message)`.
    deliver: Function<'js>,
}

impl<'js> Prelude<'js> {
    fn install(
        ctx: &Ctx<'js>,
        contexts: &Contexts,
        options: &Options,
        shared: &Shared,
    ) -> rquickjs::Result<Self> {
        let natives = natives(ctx, shared, Random::new(options.random_seed))?;
        let date: Function<'js> = evaluated(ctx, "harn:date", include_str!("date.js"))?;
        date.call::<_, ()>((natives.clone(), options.zone_offset_minutes))?;
        let given = Object::new(ctx.clone())?;
        let members = [
            ("work", contexts.work.as_ref()),
            ("attempt", contexts.attempt.as_ref()),
            ("workspace", Some(&contexts.workspace)),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                given.set(name, ctx.json_parse(value.to_string())?)?;
            }
        }
        let prelude: Function<'js> = evaluated(ctx, "harn:prelude", include_str!("prelude.js"))?;
        let parts: Object<'js> = prelude.call((natives, given))?;
        Ok(Self { start: parts.get("start")?, deliver: parts.get("deliver")? })
    }
}

/// Evaluates one of our own files, which are single function expressions.
fn evaluated<'js>(ctx: &Ctx<'js>, name: &str, source: &str) -> rquickjs::Result<Function<'js>> {
    let mut options = EvalOptions::default();
    options.filename = Some(name.to_owned());
    ctx.eval_with_options(source, options)
}

struct Interpreter<'js, 'a> {
    ctx: Ctx<'js>,
    shared: &'a Shared,
    prelude: Prelude<'js>,
}

impl<'js> Interpreter<'js, '_> {
    /// The whole life of the script.
    fn script(&self, bundle: &Bundle) -> Result<ScriptEnd, ScriptEnd> {
        self.unless_ended()?;
        let entry = bundle.entry();
        let declared = Module::declare(self.ctx.clone(), entry.path(), entry.source());
        let (module, evaluation) = declared.and_then(Module::eval).map_err(|error| self.threw(error))?;
        self.settled(&evaluation)?;

        let exports = module.namespace().map_err(|error| self.threw(error))?;
        let meta = self.meta(&exports, entry.path())?;
        let main = exports.get::<_, Value<'js>>("default").map_err(|error| self.threw(error))?;
        if !main.is_function() {
            let error = ModuleError::DefaultNotAFunction { found: kind(&main).to_owned() };
            return Err(ScriptEnd::Unusable { error });
        }
        self.shared.bridge.ask(|reply| Request::Loaded(meta, reply)).ok_or(ScriptEnd::Stopped)?;

        let promise = self.prelude.start.call((main,)).map_err(|error| self.threw(error))?;
        let result = self.settled(&promise)?;
        self.serialised(result)
    }

    /// Runs jobs and delivers completions, one at a time, until `promise` has a value.
    ///
    /// After each job the stop and exhaustion come first, whatever the job did; then the promise.
    fn settled(&self, promise: &Promise<'js>) -> Result<Value<'js>, ScriptEnd> {
        loop {
            self.unless_ended()?;
            match promise.state() {
                PromiseState::Resolved | PromiseState::Rejected => {
                    let result = promise.result().expect("a settled promise has a result");
                    return result.map_err(|error| self.threw(error));
                }
                PromiseState::Pending => {}
            }
            if !self.ctx.execute_pending_job() {
                self.next_completion()?;
            }
        }
    }

    fn next_completion(&self) -> Result<(), ScriptEnd> {
        match self.shared.bridge.ask(Request::Next) {
            Some(Next::Completed { call, at_ms, outcome }) => {
                self.shared.now_ms.set(at_ms);
                let delivered = match outcome {
                    Ok(value) => self
                        .ctx
                        .json_parse(value.to_string())
                        .and_then(|value| self.prelude.deliver.call::<_, ()>((call.0, true, value))),
                    Err(message) => self.prelude.deliver.call((call.0, false, message)),
                };
                // The value is good JSON: only the limits can be in the way.
                delivered.map_err(|error| match self.threw(error) {
                    end @ (ScriptEnd::Stopped | ScriptEnd::StackOverflow) => end,
                    _ => ScriptEnd::OutOfMemory,
                })
            }
            Some(Next::Stop) | None => Err(self.shared.bridge.end().unwrap_or(ScriptEnd::Stopped)),
            Some(Next::Idle) => Err(ScriptEnd::Stalled),
        }
    }

    fn meta(&self, exports: &Object<'js>, path: &str) -> Result<Meta, ScriptEnd> {
        let read = exports.get::<_, Value<'js>>("meta").map_err(ReadError::from);
        read.and_then(|meta| Meta::read(&meta, path)).map_err(|error| match error {
            ReadError::Input(error) => ScriptEnd::Unusable { error: error.into() },
            ReadError::Thrown(error) => self.threw(error),
        })
    }

    fn serialised(&self, result: Value<'js>) -> Result<ScriptEnd, ScriptEnd> {
        let json = text::json(&self.ctx, result);
        // Writing may run the script's own `toJSON`.
        self.unless_ended()?;
        match json {
            Ok(result) => Ok(ScriptEnd::Returned { result }),
            Err(error) => Err(match self.threw(error) {
                ScriptEnd::Threw { message, .. } => ScriptEnd::UnserialisableResult { message },
                end => end,
            }),
        }
    }

    /// The end that an error of the engine means.
    fn threw(&self, error: Error) -> ScriptEnd {
        let thrown = match error {
            Error::Exception => self.ctx.catch(),
            Error::Allocation => {
                self.shared.bridge.exhaust(Exhausted::Memory);
                Value::new_null(self.ctx.clone())
            }
            other => return ScriptEnd::Threw { message: Some(other.to_string()), stack: None },
        };
        exhaustion::note(&self.shared.bridge, &self.ctx, &thrown);
        let described = describe::thrown(&self.ctx, &thrown);
        self.shared.bridge.end().unwrap_or(ScriptEnd::Threw { message: described.0, stack: described.1 })
    }

    fn unless_ended(&self) -> Result<(), ScriptEnd> {
        self.shared.bridge.end().map_or(Ok(()), Err)
    }
}

/// Resolves imports, static and dynamic, within the bundle.
struct FrozenResolver(Bundle);

impl Resolver for FrozenResolver {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        resolve(base, name).filter(|path| self.0.module(path).is_some()).ok_or_else(|| {
            let message = format!(
                "cannot import `{name}`: only modules that a static `import` with a relative path names are part of a run"
            );
            Exception::throw_message(ctx, &message)
        })
    }
}

/// Loads modules from the bundle.
struct FrozenLoader(Bundle);

impl Loader for FrozenLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        let module = self.0.module(name).ok_or_else(|| Error::new_loading(name))?;
        Module::declare(ctx.clone(), name, module.source())
    }
}
