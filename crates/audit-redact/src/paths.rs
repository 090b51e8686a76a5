//! The paths of all field rules in one tree, which is walked along the location of a value.

use std::collections::HashMap;

use crate::path::{FieldPath, Location};
use crate::pattern::{Exhausted, Fuel};

/// The paths of all field rules. A lookup follows only the paths that agree with the location, not all of them.
#[derive(Debug, Clone)]
pub(crate) struct PathTree {
    /// The first one is the root.
    nodes: Vec<Node>,
    /// Any path has a `**`.
    has_deep: bool,
}

/// What the paths with the same beginning have next.
#[derive(Debug, Clone, Default)]
struct Node {
    /// The rules with a path that ends here.
    rules: Vec<usize>,
    any: Option<usize>,
    /// The node behind `**`, which is reached with this one.
    deep: Option<usize>,
    /// The node is behind `**`: it stays reached whatever the next step is.
    stays: bool,
    keys: HashMap<String, usize>,
    /// By the index of an array: the nodes in `keys` whose key is this number, `1` and `01` for example.
    indexes: HashMap<usize, Vec<usize>>,
}

/// Memory of a lookup, kept for the next one.
#[derive(Debug, Default)]
pub(crate) struct Lookup {
    /// The rules that cover the value, in no order.
    pub(crate) rules: Vec<usize>,
    reached: Vec<usize>,
    next: Vec<usize>,
}

impl PathTree {
    pub(crate) fn new<'a>(paths: impl IntoIterator<Item = (usize, &'a FieldPath)>) -> PathTree {
        let mut tree = PathTree {
            nodes: vec![Node::default()],
            has_deep: false,
        };
        for (rule, path) in paths {
            tree.has_deep |= path.steps().iter().any(|step| step == "**");
            let end = path.steps().iter().fold(0, |node, step| tree.child(node, step));
            let rules = &mut tree.nodes[end].rules;
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        tree
    }

    /// The node behind a step. Creates it if there is none.
    fn child(&mut self, parent: usize, step: &str) -> usize {
        let new = self.nodes.len();
        let node = &mut self.nodes[parent];
        let known = match step {
            "*" => node.any,
            // `**.**` has the meaning of `**`.
            "**" if node.stays => Some(parent),
            "**" => node.deep,
            key => node.keys.get(key).copied(),
        };
        if let Some(known) = known {
            return known;
        }
        match step {
            "*" => node.any = Some(new),
            "**" => node.deep = Some(new),
            key => {
                node.keys.insert(key.to_owned(), new);
                if let Ok(index) = key.parse() {
                    node.indexes.entry(index).or_default().push(new);
                }
            }
        }
        self.nodes.push(Node {
            stays: step == "**",
            ..Node::default()
        });
        new
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Finds the rules that cover the value at `location`: those with a path that names it, or that names a container of
    /// the part that it belongs to.
    pub(crate) fn look_up(
        &self,
        location: &Location<'_>,
        lookup: &mut Lookup,
        fuel: &mut Fuel,
    ) -> Result<(), Exhausted> {
        lookup.rules.clear();
        fuel.add_for_value();
        // A path that names a container covers the parts in it: `actor` covers `actor.name`. It also covers the members of
        // a part: `metadata` covers each of its members, and itself stays an object.
        let covers_containers = matches!(
            location,
            Location::Part(_)
                | Location::Key {
                    parent: Location::Part(_),
                    ..
                }
        );
        self.reach(location, covers_containers, lookup, fuel)?;
        // The rules of a part were collected on the way.
        if !matches!(location, Location::Part(_)) {
            self.collect(lookup, fuel)?;
        }
        Ok(())
    }

    /// Reaches the nodes whose paths name exactly the value at `location`.
    fn reach(
        &self,
        location: &Location<'_>,
        collects: bool,
        lookup: &mut Lookup,
        fuel: &mut Fuel,
    ) -> Result<(), Exhausted> {
        match location {
            Location::Part(part) => {
                lookup.reached.clear();
                lookup.reached.push(0);
                lookup.reached.extend(self.nodes[0].deep);
                for key in *part {
                    self.advance(lookup, fuel, |node| node.keys.get(*key).into_iter())?;
                    if collects {
                        self.collect(lookup, fuel)?;
                    }
                }
                Ok(())
            }
            Location::Key { parent, key, .. } => {
                self.reach(parent, collects, lookup, fuel)?;
                self.advance(lookup, fuel, |node| node.keys.get(*key).into_iter())
            }
            Location::Index { parent, index } => {
                self.reach(parent, collects, lookup, fuel)?;
                self.advance(lookup, fuel, |node| node.indexes.get(index).into_iter().flatten())
            }
        }
    }

    /// One step further from all reached nodes.
    fn advance<'a, I: Iterator<Item = &'a usize>>(
        &'a self,
        lookup: &mut Lookup,
        fuel: &mut Fuel,
        named: impl Fn(&'a Node) -> I,
    ) -> Result<(), Exhausted> {
        lookup.next.clear();
        for at in &lookup.reached {
            let node = &self.nodes[*at];
            lookup.next.extend(node.stays.then_some(at));
            for next in node.any.iter().chain(named(node)) {
                lookup.next.push(*next);
                lookup.next.extend(self.nodes[*next].deep);
            }
        }
        if self.has_deep {
            // A node behind `**` may be reached in several ways.
            lookup.next.sort_unstable();
            lookup.next.dedup();
        }
        fuel.take((lookup.reached.len() + lookup.next.len()) as u64)?;
        std::mem::swap(&mut lookup.reached, &mut lookup.next);
        Ok(())
    }

    fn collect(&self, lookup: &mut Lookup, fuel: &mut Fuel) -> Result<(), Exhausted> {
        for node in &lookup.reached {
            let rules = &self.nodes[*node].rules;
            fuel.take(rules.len() as u64)?;
            lookup.rules.extend(rules);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
