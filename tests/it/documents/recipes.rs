//! Everything that the recipes of CONTRIBUTING.md name exists: each path is a file, and each test is a function.

use super::{quoted, read, root, sources};

/// The rows of the recipes: number, path, change, and the check that catches its omission.
fn rows(document: &str) -> Vec<Vec<String>> {
    let recipes = document
        .split_once("## Recipe: add a filter")
        .map(|(_, recipes)| recipes)
        .expect("the recipes");
    let cells = |line: &str| {
        line.split('|')
            .map(|cell| cell.trim().to_owned())
            .collect::<Vec<_>>()
    };
    let is_step = |row: &Vec<String>| row.len() == 6 && row[1].parse::<u32>().is_ok();
    recipes.lines().map(cells).filter(is_step).collect()
}

#[test]
fn every_path_and_every_test_of_a_recipe_exists() {
    let document = read("CONTRIBUTING.md");
    let rows = rows(&document);
    assert!(rows.len() >= 16, "two recipes: {rows:#?}");
    let root = root();
    let mut text = String::new();
    for folder in ["crates", "bins", "tests"] {
        sources(&root.join(folder), &mut text);
    }
    for row in &rows {
        for path in quoted(&row[2]) {
            assert!(root.join(path).is_file(), "{path} of step {}", row[1]);
        }
        for name in quoted(&row[4]) {
            let (is_module, last) = match name.rsplit_once("::") {
                Some((_, module)) => (true, module),
                None => (false, name),
            };
            let declared = match is_module {
                true => format!("mod {last};"),
                false => format!("fn {last}("),
            };
            assert!(text.contains(&declared), "{name} of step {}", row[1]);
        }
    }
}
