//! Rows of cells in aligned columns, the last cut to what is left of the line.

use unicode_width::UnicodeWidthStr as _;

use super::wrap::{cut, wrapped};

/// Columns between two cells.
const GAP: usize = 2;
/// The least width of the last column that is worth a cut.
const LAST: usize = 10;

/// Lays out safe texts in columns two spaces apart, a string for each row, without a line feed at its end.
///
/// Without a `width`, as in a pipe, nothing is cut. With one, the last cell is cut so that the rows fit. Where there is no
/// room for that, each row becomes a block: its first cell, which is never broken, and the others below it.
pub(crate) fn rows<const N: usize>(rows: &[[String; N]], width: Option<usize>) -> Vec<String> {
    if let Some(width) = width
        && !has_room(rows, width)
    {
        return rows.iter().map(|row| stacked(row, width)).collect();
    }
    let widths: [usize; N] = std::array::from_fn(|index| widest(rows, index));
    let line = |row: &[String; N]| {
        let mut line = String::new();
        for (cell, column) in row[..N - 1].iter().zip(widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', column - cell.width() + GAP));
        }
        let room = width.map_or(usize::MAX, |width| width - line.width());
        line.push_str(&cut(&row[N - 1], room));
        line.truncate(line.trim_end().len());
        line
    };
    rows.iter().map(line).collect()
}

/// The same as one text.
pub(crate) fn columns<const N: usize>(cells: &[[String; N]], width: Option<usize>) -> String {
    rows(cells, width).into_iter().map(|row| row + "\n").collect()
}

/// Whether all columns but the last fit whole, and enough of the last.
fn has_room<const N: usize>(rows: &[[String; N]], width: usize) -> bool {
    let fixed: usize = (0..N - 1).map(|index| widest(rows, index) + GAP).sum();
    fixed + widest(rows, N - 1).min(LAST) <= width
}

fn widest<const N: usize>(rows: &[[String; N]], index: usize) -> usize {
    rows.iter().map(|row| row[index].width()).max().unwrap_or(0)
}

fn stacked<const N: usize>(row: &[String; N], width: usize) -> String {
    let rest: Vec<&str> = row[1..].iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
    let below = wrapped(&rest.join("  "), width, "  ", "  ");
    format!("{}\n{}", row[0], below.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_what_a_terminal_counts() {
        let rows = [["漢", "ready", "a long title"], ["ab c", "x", "t"]].map(|row| row.map(str::to_owned));
        for (width, expected) in [
            (None, "漢    ready  a long title\nab c  x      t\n"),
            (Some(25), "漢    ready  a long title\nab c  x      t\n"),
            (Some(24), "漢    ready  a long tit…\nab c  x      t\n"),
            (Some(22), "漢\n  ready  a long title\nab c\n  x  t\n"),
        ] {
            assert_eq!(columns(&rows, width), expected, "{width:?}");
        }
        assert_eq!(columns::<2>(&[], Some(80)), "");
    }
}
