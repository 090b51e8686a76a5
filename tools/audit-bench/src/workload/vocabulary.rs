//! Names, words and their frequencies.

/// Values of one filter by selectivity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilterValues {
    /// Matches a tenth of all events or more.
    pub(crate) common: &'static str,
    /// Matches about 200 events, all among the first 10,000.
    pub(crate) rare: &'static str,
    /// Matches no event.
    pub(crate) absent: &'static str,
}

const fn values(common: &'static str, rare: &'static str, absent: &'static str) -> FilterValues {
    FilterValues { common, rare, absent }
}

pub(crate) const TENANT: FilterValues = values("acme", "umbrella", "nowhere");
pub(crate) const ACTOR: FilterValues = values("usr_support", "usr_intruder", "usr_nobody");
pub(crate) const ACTOR_TYPE: FilterValues = values("user", "service", "system");
pub(crate) const ACTION: FilterValues = values("document.viewed", "vault.unsealed", "moon.landed");
pub(crate) const ACTION_PREFIX: FilterValues = values("document.*", "vault.*", "moon.*");
pub(crate) const CATEGORY: FilterValues = values("access", "system", "security");
pub(crate) const TARGET: FilterValues = values("doc_handbook", "safe_7", "doc_nothing");
pub(crate) const TARGET_TYPE: FilterValues = values("document", "vault", "moon");
pub(crate) const WORD: FilterValues = values("maria", "quetzalcoatl", "zzyzx");
pub(crate) const TWO_WORDS: FilterValues = values("maria viewed", "quetzalcoatl maria", "maria zzyzx");
pub(crate) const WORD_PREFIX: FilterValues = values("ali*", "quetz*", "zzy*");

/// The name of the common [`ACTOR`].
pub(crate) const COMMON_ACTOR_NAME: &str = "Maria Lopez";
/// The actor name that contains the rare [`WORD`].
pub(crate) const RARE_ACTOR_NAME: &str = "Maria Quetzalcoatl";

/// Pairs of filters that each match many events, and none together: the worst case for an intersection of posting lists and
/// for a scan that stops at a full page.
pub(crate) const NEVER_TOGETHER: &[[(&str, &str); 2]] = &[
    [("category", "auth"), ("action", "document.viewed")],
    [("target_type", "user"), ("action", "document.*")],
    [("search", "viewed"), ("category", "mutation")],
    [("search", "viewed login"), ("actor_type", "user")],
];

/// An action and the properties of its events.
#[derive(Debug)]
pub(crate) struct ActionKind {
    pub(crate) name: &'static str,
    /// Share of the events.
    pub(crate) permille: u64,
    pub(crate) category: &'static str,
    /// Empty = no target.
    pub(crate) target_type: &'static str,
}

const fn action(
    name: &'static str,
    permille: u64,
    category: &'static str,
    target_type: &'static str,
) -> ActionKind {
    ActionKind {
        name,
        permille,
        category,
        target_type,
    }
}

/// The last five match the built-in alert rules: 2.2 % of the events.
pub(crate) const ACTIONS: &[ActionKind] = &[
    action("document.viewed", 260, "access", "document"),
    action("document.updated", 80, "mutation", "document"),
    action("document.created", 50, "mutation", "document"),
    action("document.comment.added", 40, "mutation", "document"),
    action("document.shared", 30, "access", "document"),
    action("invoice.viewed", 60, "access", "invoice"),
    action("invoice.paid", 40, "mutation", "invoice"),
    action("api.request.served", 60, "access", "endpoint"),
    action("file.downloaded", 20, "access", "file"),
    action("auth.login.succeeded", 110, "auth", ""),
    action("auth.token.refreshed", 60, "auth", ""),
    action("auth.logout", 48, "auth", ""),
    action("user.updated", 60, "mutation", "user"),
    action("user.invited", 20, "admin", "user"),
    action("project.settings.updated", 40, "admin", "project"),
    action("auth.failed", 8, "auth", ""),
    action("user.role.updated", 4, "admin", "user"),
    action("team.api_key.created", 3, "admin", "api_key"),
    action("report.exported", 3, "access", "report"),
    action("document.deleted", 4, "mutation", "document"),
];

pub(crate) const TENANTS: u64 = 400;
pub(crate) const ACTORS: u64 = 5_000;

/// Five of them start with `Ali`.
pub(crate) const FIRST_NAMES: &[&str] = &[
    "Alice", "Alina", "Alistair", "Aliyah", "Alicia", "Maria", "Wei", "Olu", "Priya", "Jonas", "Fatima",
    "Diego", "Hana", "Ivan", "Lena", "Marek", "Noor", "Oscar", "Petra", "Quinn", "Rosa", "Sven", "Tariq",
    "Uma", "Vera", "Walter", "Xenia", "Yusuf", "Zoe", "Amara", "Bruno", "Chloe", "Dmitri", "Elif", "Farid",
    "Greta", "Hugo", "Ingrid", "Jamal", "Kaori",
];
pub(crate) const LAST_NAMES: &[&str] = &[
    "Lopez", "Chen", "Adeyemi", "Sharma", "Keller", "Haddad", "Ortega", "Suzuki", "Petrov", "Vogel", "Nowak",
    "Rahman", "Lind", "Horvat", "Byrne", "Santos", "Berg", "Aziz", "Iyer", "Novak", "Weber", "Kim", "Kaya",
    "Rossi", "Okafor", "Moreau", "Silva", "Ivanov", "Demir", "Farouk", "Schmidt", "Costa", "Larsen", "Brown",
    "Tanaka", "Murphy",
];
pub(crate) const ADJECTIVES: &[&str] = &[
    "Quarterly",
    "Annual",
    "Draft",
    "Signed",
    "Internal",
    "Public",
    "Revised",
    "Archived",
    "Regional",
    "Technical",
    "Preliminary",
    "Final",
    "Confidential",
    "Weekly",
    "Joint",
    "Updated",
];
pub(crate) const NOUNS: &[&str] = &[
    "report",
    "contract",
    "roadmap",
    "budget",
    "minutes",
    "policy",
    "proposal",
    "forecast",
    "invoice",
    "handbook",
    "plan",
    "agreement",
    "summary",
    "checklist",
    "analysis",
    "statement",
];
pub(crate) const USER_AGENTS: &[&str] = &[
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:121.0) Gecko/20100101 Firefox/121.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_2) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.2 Safari/605.1.15",
    "acme-sdk-python/4.2.1 CPython/3.12",
];
pub(crate) const CITIES: &[&str] = &[
    "Berlin", "Lagos", "Osaka", "Lima", "Toronto", "Pune", "Oslo", "Madrid",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_the_actions_sum_to_one() {
        assert_eq!(ACTIONS.iter().map(|action| action.permille).sum::<u64>(), 1_000);
        let alerts = ACTIONS.iter().rev().take(5);
        assert_eq!(alerts.map(|action| action.permille).sum::<u64>(), 22);
    }
}
