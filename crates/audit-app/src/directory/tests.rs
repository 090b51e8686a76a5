//! Tests of the cache of the configuration.

use super::*;
use audit_domain::{Clock, KeyId, KeyLimits, OrganizationId, Timestamp};
use audit_store::{DatabaseUrl, Deployment, Organization, Store, StoreError, StoreOptions};

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

/// A store with two projects of one organization, each with a key, and a cache.
struct Fixture {
    store: Store,
    directory: Directory,
    settings: Settings,
    _folder: tempfile::TempDir,
}

const ORGANIZATION: [u8; 16] = [1; 16];

fn project_id(number: u8) -> ProjectId {
    ProjectId::from_random([number; 16])
}

fn key_id(number: u8) -> KeyId {
    KeyId::from_random([number; 16])
}

fn hash(number: u8) -> KeyHash {
    KeyHash::from_bytes([number; KeyHash::BYTES])
}

fn key(number: u8, project_id: Option<ProjectId>) -> Key {
    Key {
        id: key_id(number),
        organization_id: OrganizationId::from_random(ORGANIZATION),
        project: project_id.map(|project_id| (project_id, Environment::Live)),
        name: "k".to_owned(),
        prefix: "p".to_owned(),
        created_at: NOW,
        last_used_at: None,
        last_used_from: None,
        revoked_at: None,
        sessions_ended: 0,
        limits: KeyLimits::default(),
    }
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let clock: Arc<dyn Clock> = Arc::new(NOW);
        let url = DatabaseUrl::Sqlite(folder.path().join("audit.db"));
        let store = Store::open(
            &url,
            StoreOptions::default(),
            &audit_ledger::HeadKey::new(&[7; 32]),
            &clock,
        )
        .expect("the store opens");
        let organization_id = OrganizationId::from_random(ORGANIZATION);
        let organization = Organization {
            id: organization_id,
            name: "o".to_owned(),
            plan: Plan::Enterprise,
            created_at: NOW,
        };
        let created = store.configure(Deployment, move |configurator| {
            configurator.insert_organization(&organization)?;
            for number in [1, 2] {
                let project = Project {
                    id: project_id(number),
                    organization_id,
                    name: "p".to_owned(),
                    created_at: NOW,
                    archived_at: None,
                    metadata_filter_paths: Vec::new(),
                };
                configurator.insert_project(&project, &[])?;
                configurator.insert_first_key(&key(number, Some(project.id)), hash(number).as_bytes())?;
            }
            configurator.insert_first_key(&key(3, None), hash(3).as_bytes())
        });
        created.expect("the projects are created");
        Self {
            store,
            directory: Directory::default(),
            settings: Settings::default(),
            _folder: folder,
        }
    }

    /// The present configuration of a project.
    fn project(&self, number: u8) -> Arc<ProjectConfiguration> {
        let found = self.store.read(|reader| {
            let mut present = self.directory.present();
            present.project(reader, &self.settings, project_id(number))
        });
        found.expect("the project is read").expect("it exists")
    }

    /// The present state of a key.
    fn key(&self, number: u8) -> Arc<Key> {
        let found = self
            .store
            .read(|reader| self.directory.present().key(reader, &hash(number)));
        found.expect("the key is read").expect("it exists")
    }

    /// Whether an ingest with this key needs no look-up.
    fn is_cached(&self, number: u8) -> bool {
        let key = self.directory.cached_key(&hash(number));
        let project = self.directory.cached_project(project_id(number));
        key.zip(project)
            .is_some_and(|(key, project)| key.version == project.version)
    }

    fn delete_tier(&self, number: u8) {
        let changed = self.store.configure(project_id(number), |configurator| {
            let tier = audit_domain::ViewerTier::initial().remove(0);
            configurator.insert_tier(&tier, NOW)?;
            configurator.delete_tier(&tier.name)
        });
        assert!(changed.expect("the tier is deleted"));
    }
}

#[test]
fn a_change_of_one_project_leaves_the_entries_of_another_valid() {
    let fixture = Fixture::new();
    let before = [1, 2].map(|number| (fixture.key(number), fixture.project(number)));
    assert!(fixture.is_cached(1) && fixture.is_cached(2));
    fixture.delete_tier(1);
    let after = [1, 2].map(|number| (fixture.key(number), fixture.project(number)));
    assert_ne!(after[0].1.version, before[0].1.version);
    assert!(!Arc::ptr_eq(&after[0].0, &before[0].0) && !Arc::ptr_eq(&after[0].1, &before[0].1));
    assert!(Arc::ptr_eq(&after[1].0, &before[1].0) && Arc::ptr_eq(&after[1].1, &before[1].1));
    assert!(fixture.is_cached(1) && fixture.is_cached(2));
}

#[test]
fn a_cached_key_counts_only_with_the_configuration_of_its_version() {
    let fixture = Fixture::new();
    fixture.key(1);
    fixture.project(1);
    let revoked = fixture.store.configure(project_id(1), |configurator| {
        configurator.revoke_key(key_id(1), NOW)
    });
    revoked.unwrap();
    // Another request of the project has loaded the configuration after the revocation.
    fixture.project(1);
    assert!(!fixture.is_cached(1));
    assert_eq!(fixture.key(1).revoked_at, Some(NOW));
}

#[test]
fn a_master_key_is_read_at_each_use() {
    let fixture = Fixture::new();
    let organization_id = OrganizationId::from_random(ORGANIZATION);
    assert_eq!(fixture.key(3).revoked_at, None);
    assert!(fixture.directory.cached_key(&hash(3)).is_none());
    let before = [1, 2].map(|number| fixture.project(number).version);
    let revoked = fixture.store.configure(organization_id, |configurator| {
        configurator.revoke_master_key(key_id(3), NOW)
    });
    revoked.unwrap();
    assert_eq!(fixture.key(3).revoked_at, Some(NOW));
    // The requests of the key that are being prepared are stale.
    assert!(
        (1..)
            .zip(before)
            .all(|(number, version)| fixture.project(number).version != version)
    );
}

#[test]
fn a_configuration_that_changed_during_its_load_is_not_cached() {
    let fixture = Fixture::new();
    let loaded = fixture.store.read(|reader| {
        let mut present = fixture.directory.present();
        // The request has read the version before the change.
        present.key(reader, &hash(1))?;
        fixture.delete_tier(1);
        present.project(reader, &fixture.settings, project_id(1))
    });
    let loaded = loaded.unwrap().unwrap();
    assert!(fixture.directory.cached_project(project_id(1)).is_none());
    assert_ne!(
        loaded.version,
        fixture.project(1).version,
        "its commit will be stale"
    );
}

#[test]
fn an_unknown_project_or_key_is_not_found() {
    let fixture = Fixture::new();
    let found = fixture.store.read(|reader| {
        let mut present = fixture.directory.present();
        let key = present.key(reader, &hash(9))?;
        Ok::<_, crate::error::AppError>((key, present.project(reader, &fixture.settings, project_id(9))?))
    });
    assert!(matches!(found, Ok((None, None))));
}

#[test]
fn a_full_cache_evicts_single_entries() {
    let fixture = Fixture::new();
    let version = fixture
        .store
        .read(|reader| reader.configuration_version(project_id(1)))
        .map_err(|error: StoreError| error)
        .unwrap()
        .unwrap();
    let cached = CachedKey {
        version,
        project_id: project_id(1),
        key: fixture.key(1),
    };
    let keys = &fixture.directory.keys;
    for number in 0..3 * CACHED_ENTRIES_MAX as u64 {
        let mut hash = [0; KeyHash::BYTES];
        hash[..8].copy_from_slice(&number.to_be_bytes());
        keys.insert(hash, cached.clone());
        let expected = (number as usize + 1).min(CACHED_ENTRIES_MAX) * 9 / 10;
        assert!(
            (expected..=CACHED_ENTRIES_MAX).contains(&keys.len()),
            "after {number}: {}",
            keys.len()
        );
    }
}
