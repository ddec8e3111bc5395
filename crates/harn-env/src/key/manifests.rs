//! The manifests and lockfiles that a set-up depends on without being told.

/// Names of files.
#[rustfmt::skip]
const NAMES: [&str; 62] = [
    // JavaScript
    ".node-version", ".npmrc", ".nvmrc", ".yarnrc.yml", "bun.lock", "bun.lockb", "deno.json", "deno.jsonc", "deno.lock",
    "npm-shrinkwrap.json", "package-lock.json", "package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "yarn.lock",
    // Python
    ".python-version", "Pipfile", "Pipfile.lock", "environment.yml", "pdm.lock", "poetry.lock", "pyproject.toml",
    "setup.cfg", "setup.py", "uv.lock",
    // Rust and Go
    "Cargo.lock", "Cargo.toml", "go.mod", "go.sum", "go.work", "go.work.sum", "rust-toolchain", "rust-toolchain.toml",
    // JVM
    "build.gradle", "build.gradle.kts", "gradle-wrapper.properties", "gradle.lockfile", "libs.versions.toml", "pom.xml",
    "settings.gradle", "settings.gradle.kts",
    // Others
    ".tool-versions", "CMakeLists.txt", "Directory.Packages.props", "Gemfile", "Gemfile.lock", "Package.resolved",
    "Package.swift", "composer.json", "composer.lock", "conanfile.py", "conanfile.txt", "flake.lock", "flake.nix",
    "global.json", "mise.toml", "mix.exs", "mix.lock", "packages.lock.json", "pubspec.lock", "pubspec.yaml", "vcpkg.json",
];

/// Beginnings of names that end in `.txt`.
const TEXTS: [&str; 2] = ["requirements", "constraints"];

/// Whether a file of this name, at any depth, is a manifest or lockfile of a known kind.
#[must_use]
pub fn is_manifest(name: &str) -> bool {
    let is_text = || {
        let stem = name.strip_suffix(".txt");
        stem.is_some_and(|stem| TEXTS.iter().any(|text| stem.starts_with(text)))
    };
    NAMES.contains(&name) || is_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_and_no_others() {
        for name in ["Cargo.lock", "requirements.txt", "requirements-dev.txt", "constraints.txt", ".npmrc"] {
            assert!(is_manifest(name), "{name}");
        }
        for name in ["cargo.lock", "requirements.in", "README.md", "my-package.json", ""] {
            assert!(!is_manifest(name), "{name}");
        }
        let mut sorted = NAMES.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), NAMES.len(), "a name stands twice");
    }
}
