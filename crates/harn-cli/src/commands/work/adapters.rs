//! The adapters of an attempt, from the configuration and the command line.

use harn_engine::adapter::Exec;
use harn_engine::run::Adapters;

use crate::config::Config;
use crate::exit::Exit;
use crate::failure::Failure;

/// The adapters that are configured or given, and which of them is meant.
pub(super) fn adapters(
    named: Option<&str>,
    exec: Option<&str>,
    config: &Config,
) -> Result<Adapters, Failure> {
    let mut adapters = Adapters::none();
    let refuse = |error: harn_engine::adapter::ExecError| {
        Failure::from_error(Exit::Refused, error.code(), None, &error)
    };
    for (name, adapter) in &config.adapters {
        adapters = adapters.with(Exec::new(name, &adapter.command).map_err(refuse)?);
    }
    if let Some(command) = exec {
        if named.is_some_and(|name| name != "exec") {
            let message = "`--exec` is the command of the adapter `exec`, and another adapter is named";
            return Err(Failure::new(Exit::Usage, "exec_with_other_adapter", message)
                .hint("leave one of `--adapter` and `--exec` out"));
        }
        let words = shlex::split(command).ok_or_else(|| {
            let message = format!("`--exec` has an open quotation: {}", command.escape_debug());
            Failure::new(Exit::Usage, "exec_unreadable", message).hint("quote the command as for a shell")
        })?;
        adapters = adapters.with(Exec::new("exec", words).map_err(refuse)?).with_default("exec");
    } else if named == Some("exec") && adapters.get("exec").is_none() {
        return Err(Failure::new(Exit::Usage, "exec_missing", "the adapter `exec` needs a command")
            .hint("add `--exec COMMAND`"));
    }
    match named.or(config.adapter.as_deref()) {
        Some(name) if exec.is_none() => Ok(adapters.with_default(name)),
        _ => Ok(adapters),
    }
}
