//! A change as text that is short enough to be handed over, with a mark where something is left out.

/// Longest diff that is handed over whole, in bytes.
pub const DIFF_MAX: usize = 100_000;
/// Room for the mark of a file, in bytes, beside its name.
const MARK: usize = 80;

/// A diff of up to 100,000 bytes as it is. Of a longer one, every file gets an equal share, what a short one does not need
/// going to the others; each cut has a mark that names the file and how many lines are left out. What does not fit at all is
/// counted in the last line.
#[must_use]
pub fn excerpts(diff: &str) -> String {
    if diff.len() <= DIFF_MAX {
        return diff.to_owned();
    }
    let files = files(diff);
    let mut out = String::new();
    // Short files first: what they leave goes to the longer ones. The text keeps the order of the diff.
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&at| files[at].len());
    let mut shares = vec![0; files.len()];
    let mut room = DIFF_MAX - MARK;
    for (done, &at) in order.iter().enumerate() {
        let share = room / (files.len() - done);
        shares[at] = share.min(files[at].len());
        room -= shares[at];
    }
    let mut unnamed = 0;
    for (file, share) in files.iter().zip(shares) {
        match cut(file, share) {
            Some(text) => out.push_str(&text),
            None => unnamed += 1,
        }
    }
    if unnamed > 0 {
        let mark = format!("[harn: {unnamed} more files are left out here]\n");
        out.push_str(&mark);
    }
    out
}

/// The parts of a diff, each of one file.
fn files(diff: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = vec![0];
    starts.extend(diff.match_indices("\ndiff --git ").map(|(at, _)| at + 1));
    let ends = starts.iter().skip(1).copied().chain([diff.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &diff[start..end]).collect()
}

/// As many whole lines of a file as fit into its share; none where not even its mark fits.
fn cut(file: &str, share: usize) -> Option<String> {
    if file.len() <= share {
        return Some(file.to_owned());
    }
    let name = name(file);
    let room = share.checked_sub(MARK + name.len())?;
    let mut kept = 0;
    let mut lines = 0;
    for line in file.split_inclusive('\n') {
        if kept + line.len() > room {
            break;
        }
        kept += line.len();
        lines += 1;
    }
    let left = file.lines().count() - lines;
    Some(format!("{}[harn: {left} lines of {name} are left out here]\n", &file[..kept]))
}

/// What a part of a diff is about.
fn name(file: &str) -> &str {
    let first = file.lines().next().unwrap_or_default();
    let path = first.rsplit_once(" b/").map_or("the diff", |(_, path)| path);
    path.get(..path.len().min(500)).unwrap_or("a file with a long name")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, lines: usize) -> String {
        let body = "+a line of the file ä\n".repeat(lines);
        format!("diff --git a/{name} b/{name}\n{body}")
    }

    #[test]
    fn a_short_diff_is_whole_and_a_long_one_says_what_it_lacks() {
        let tiny = file("tiny.rs", 3);
        assert_eq!(excerpts(&tiny), tiny);
        let long = format!("{}{tiny}", file("huge.rs", 20_000));
        let cut = excerpts(&long);
        assert!(cut.len() <= DIFF_MAX && cut.len() > DIFF_MAX / 2, "{}", cut.len());
        assert!(cut.ends_with(&tiny), "the short file is whole");
        let kept = cut.matches("+a line").count() - 3;
        assert!(cut.contains(&format!("[harn: {} lines of huge.rs are left out here]", 20_000 - kept)));
    }

    #[test]
    fn many_files_and_no_file_at_all_stay_within_the_bound() {
        let many: String = (0..3_000).map(|n| file(&format!("src/file{n}.rs"), 10)).collect();
        let cut = excerpts(&many);
        assert!(cut.len() <= DIFF_MAX, "{}", cut.len());
        assert!(cut.contains("more files are left out here]"));
        let strange = "no header, one line ".repeat(10_000);
        assert!(excerpts(&strange).len() <= DIFF_MAX);
    }
}
