// Runs once before the workflow is compiled. Takes away what would make a run unrepeatable, and makes `ctx`.
//
// `native` holds the functions of natives.rs; they return `undefined` once the script has ended.
// `contexts` holds `work`, `attempt` and `workspace`; members that do not exist are absent.
(native, contexts) => {
  'use strict';

  // The script may replace any global later; what is used then is taken now.
  const { defineProperty, freeze, values } = Object;
  const { isArray } = Array;
  const [NativeError, NativeTypeError, NativePromise] = [Error, TypeError, Promise];
  const all = NativePromise.all.bind(NativePromise);

  // --- The world outside ---------------------------------------------------------------------------------------

  for (const name of ['performance', 'Atomics', 'SharedArrayBuffer', 'WeakRef', 'FinalizationRegistry']) {
    delete globalThis[name];
  }

  // Every exception passes through `observe` before it can be caught; see exhaustion.rs.
  Error.prepareStackTrace = native.observe;
  delete Error.prepareStackTrace;
  delete Error.captureStackTrace;
  delete Error.stackTraceLimit;
  delete Error.prototype.stack;

  defineProperty(Math, 'random', { value: () => native.random(), writable: true, configurable: true });

  const missing = {
    setTimeout: 'a run has no timers; give agents and checks a `timeoutMs`',
    setInterval: 'a run has no timers; await agents and checks instead',
    setImmediate: 'use `queueMicrotask`',
    fetch: 'a workflow has no network; let an agent or `ctx.check` do it',
    require: 'use `import` with a relative path',
    process: 'input comes through `ctx.work` and `ctx.attempt`; run commands with `ctx.check`',
    Buffer: 'use `Uint8Array`',
  };
  for (const name in missing) {
    const refuse = () => {
      throw new NativeError(`\`${name}\` does not exist in a workflow: ${missing[name]}`);
    };
    const isObject = name === 'process' || name === 'Buffer';
    defineProperty(globalThis, name, { configurable: true, ...(isObject ? { get: refuse } : { value: refuse }) });
  }

  const log = (...parts) => {
    native.log(parts);
  };
  globalThis.console = { debug: log, dir: log, error: log, info: log, log, trace: log, warn: log };

  // --- Calls that complete later -------------------------------------------------------------------------------

  const never = () => new NativePromise(() => {});

  // Call id to the promise that waits for it. Without a prototype, so that nothing can reach in.
  const waiting = { __proto__: null };

  // `error` was made where the script called, so that a failure points there.
  const started = (call, error) =>
    call === undefined
      ? never()
      : new NativePromise((resolve, reject) => {
          waiting[call] = { resolve, reject, error };
        });

  const deliver = (call, succeeded, value) => {
    const waiter = waiting[call];
    if (waiter === undefined) return;
    delete waiting[call];
    if (succeeded) {
      waiter.resolve(value);
    } else {
      defineProperty(waiter.error, 'message', { value, writable: true, configurable: true });
      waiter.reject(waiter.error);
    }
  };

  // --- ctx -----------------------------------------------------------------------------------------------------

  const parallel = async (thunks) => {
    if (!isArray(thunks)) throw new NativeTypeError('parallel() expects an array of functions');
    for (let index = 0; index < thunks.length; index += 1) {
      if (typeof thunks[index] !== 'function') {
        throw new NativeTypeError(`parallel() expects an array of functions, entry ${index} is none`);
      }
    }
    const result = async (thunk, index) => {
      try {
        return await thunk();
      } catch (error) {
        native.parallelItemFailed(index, error);
        return null;
      }
    };
    return all(thunks.map(result));
  };

  const deepFreeze = (value) => {
    if (typeof value === 'object' && value !== null) {
      values(value).forEach(deepFreeze);
      freeze(value);
    }
    return value;
  };

  const ctx = freeze({
    ...deepFreeze(contexts),
    agent: async (prompt, options) => started(native.agent(prompt, options), new NativeError()),
    check: async (command) => started(native.check(command), new NativeError()),
    parallel,
    stage: (title) => {
      native.stage(title);
    },
    log,
    evidence: (record) => native.evidence(record),
    blocked: (why) => {
      native.blocked(why);
      return never();
    },
  });

  const start = (main) =>
    new NativePromise((resolve) => {
      resolve(main(ctx));
    });

  return { start, deliver };
};
