//! `log verify`: checks that the database holds exactly the events that were appended and signed, but for those that a removal in the log
//! took.
//!
//! No stored value is trusted. The content hash of every event is computed from its text, and the tree is rebuilt from the
//! hashes. The stored tiles, the frontier of the tree, the other columns of the head and the last checkpoint are compared with
//! it, and the last checkpoint that this node remembers. An attacker with the database has to change all of them consistently,
//! and cannot change the state of an external auditor: see `log audit`.

mod alerts;
mod anchors;
mod finding;
mod listed;
mod maps;
mod removals;
mod repair;
mod tenants;
mod tree;
mod walk;

use crate::error::{AppError, Result};
use crate::log::tenants::StoredMapSecret;
use crate::log::{Remembered, stored_keys, successors_in};
use crate::secrets::head_key_place;
use crate::service::AuditLog;
pub use anchors::{
    AnchorFinding, AnchorReport, AnchoredHead, AnchoredLog, AnchoredLogs, AnchoredTenantMap,
    keys_in_database, verify_anchors,
};
use audit_domain::{ProjectId, Timestamp};
use audit_ledger::{
    CheckpointError, Hash, HeadKey, Origin, SignedCheckpoint, TenantMapKey, TreeHead, VerifierKey,
};
use audit_secrets::{KeyRing, OpenError};
use audit_store::{
    CellId, DatabaseUrl, Reader, StoredLedger, StoredRemoval, StoredTenantMap, StrayEvent, inspect,
};
pub use finding::{FINDINGS_MAX, Finding, Problem};
use listed::ListedProjects;
pub use listed::{ListMismatch, list_mismatch};
use maps::{Labels, MapWalk, TenantWalk};
use removals::RemovalWalk;
pub use removals::{Removed, VerifiedRemoval};
pub use repair::{RepairOptions, RepairReport};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use tenants::TenantKeys;
use walk::Walk;

/// How often the events of a ledger are read while its removals go on.
const WALKS_MAX: usize = 3;

/// The ledgers to verify, and what is known from sources other than the database.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// Only the ledgers of this project.
    pub project_id: Option<ProjectId>,
    /// The key that verifies checkpoints, from a trusted source. If `None`, the key in the database is trusted.
    pub key: Option<VerifierKey>,
    /// Keys that `key` has followed, whose checkpoints are valid as well.
    pub followed: Vec<VerifierKey>,
    /// The keys that encrypt the keys in the database.
    pub encryption: KeyRing,
    /// What this node knows of each log, by origin.
    pub known: HashMap<Box<str>, Remembered>,
    /// The key of heads of this node. With it or the stored one the heads are authenticated.
    pub head_key: Option<HeadKey>,
    /// Events that were received before this time must be signed.
    pub signed_before: Option<Timestamp>,
    /// The time at which the removals of the logs are judged. Without it, none is late.
    pub now: Option<Timestamp>,
    /// What anchors show of the logs.
    pub anchored: AnchoredLogs,
    /// The secret that blinds the maps of tenants; by default the one in the database.
    pub tenant_map_secret: Option<StoredMapSecret>,
}

impl VerifyOptions {
    /// With what authenticates the ledgers of all cells, as the home cell has it: the key of the heads, the secret of the maps, and the
    /// keys of the log unless one from a trusted source is given.
    fn with_secrets_of(&self, home: &mut Reader<'_>) -> Result<Self> {
        let mut options = Self {
            head_key: head_key(home, self.head_key.as_ref(), &self.encryption)?,
            tenant_map_secret: Some(StoredMapSecret::read(home, &self.encryption)?),
            ..self.clone()
        };
        if options.key.is_none() {
            options.followed = stored_keys(home, &self.encryption)?;
            options.key = options.followed.first().cloned();
        }
        Ok(options)
    }
}

/// The report on one ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerReport {
    /// The project.
    pub project_id: String,
    /// `live` or `test`.
    pub environment: String,
    /// The number of events.
    pub events: u64,
    /// The size of the last checkpoint; `None` if there is none or its signature is invalid.
    pub signed: Option<u64>,
    /// The root of the tree over the events, if it could be computed.
    pub root: Option<Hash>,
    /// What removals took from the log.
    pub removed: Removed,
    /// The findings: those that name an event first, in the order of the log. At most [`FINDINGS_MAX`] of each kind.
    pub findings: Vec<Finding>,
    /// The number of findings, including those over the limit.
    pub findings_count: u64,
}

impl LedgerReport {
    /// The name of the log: project and environment.
    pub fn name(&self) -> String {
        format!("{}/{}", self.project_id, self.environment)
    }

    /// Whether the database does not have the log.
    fn is_gone(&self) -> bool {
        let is_gone = |problem: &Problem| {
            matches!(
                problem,
                Problem::LogGone | Problem::AnchoredGone(_) | Problem::NoLog
            )
        };
        matches!(self.findings.as_slice(), [only] if is_gone(&only.problem))
    }
}

/// The first finding that names an event, or else the first finding.
pub fn first_finding(reports: &[LedgerReport]) -> Option<(&LedgerReport, &Finding)> {
    let firsts = reports
        .iter()
        .filter_map(|report| Some((report, report.findings.first()?)));
    firsts.min_by_key(|(_, finding)| !finding.names_an_event())
}

impl AuditLog {
    /// [`verify_log`] on the database of the service.
    ///
    /// # Errors
    /// As [`verify_log`].
    pub fn verify_log(
        self: &Arc<Self>,
        options: &VerifyOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<LedgerReport>> {
        if let Some(project_id) = options.project_id {
            return self.cell_of_project(project_id)?.verify_cell(options, progress);
        }
        let listed = self.store.read(ListedProjects::read)?;
        let others = self.cells()?.into_iter().map(|cell| cell.id);
        let mut reports = Vec::new();
        for cell in std::iter::once(CellId::HOME).chain(others.filter(|id| *id != CellId::HOME)) {
            let mut of_cell = self.cell(cell)?.verify_cell(options, progress)?;
            let later = self.store.read(ListedProjects::read)?;
            listed.add_findings(&later, cell, &mut of_cell);
            reports.extend(of_cell);
        }
        Ok(reports)
    }

    /// [`Self::verify_log`] for the ledgers that this cell serves.
    fn verify_cell(
        &self,
        options: &VerifyOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<LedgerReport>> {
        let options = VerifyOptions {
            encryption: self.settings.encryption.clone(),
            now: Some(self.clock.now()),
            ..options.clone()
        };
        self.store.query(|reader| {
            let found = FoundLedgers::read(reader, &options)?;
            let options = self.home_store.read(|home| options.with_secrets_of(home))?;
            verify_ledgers(reader, &found, &options, progress)
        })
    }
}

/// [`verify_log`] on an existing database that no service has open, and on the other cells of its deployment. Changes nothing.
///
/// # Errors
/// As [`verify_log`], and when a database cannot be opened.
pub fn verify_deployment(
    url: &DatabaseUrl,
    options: &VerifyOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<LedgerReport>> {
    let cells = cells_of_deployment(url)?;
    let home: Home = inspect(url, |reader| {
        let placed = options
            .project_id
            .map(|id| reader.cell_of_project(id))
            .transpose()?;
        let listed = match options.project_id {
            Some(_) => None,
            None => Some(ListedProjects::read(reader)?),
        };
        Ok::<_, AppError>(Home { placed, listed })
    })?;
    let mut reports = Vec::new();
    for cell in &cells {
        if home.placed.is_some_and(|placed| placed != cell.id) {
            continue;
        }
        let mut of_cell = inspect(&cell.url, |reader| {
            let found = FoundLedgers::read(reader, options)?;
            let options = inspect(url, |home| options.with_secrets_of(home))?;
            verify_ledgers(reader, &found, &options, progress)
        })?;
        if let Some(listed) = &home.listed {
            let later = inspect(url, ListedProjects::read)?;
            listed.add_findings(&later, cell.id, &mut of_cell);
        }
        reports.extend(of_cell);
    }
    // A log that one cell does not have may be in another one.
    let found: HashSet<String> = reports
        .iter()
        .filter(|report| !report.is_gone())
        .map(LedgerReport::name)
        .collect();
    let mut gone = HashSet::new();
    reports.retain(|report| {
        !report.is_gone() || (!found.contains(&report.name()) && gone.insert(report.name()))
    });
    Ok(reports)
}

/// A cell and its database.
#[derive(Clone, Debug)]
pub struct CellDatabase {
    /// Its number.
    pub id: CellId,
    /// Its name.
    pub name: String,
    /// Its database.
    pub url: DatabaseUrl,
}

/// The cells of the deployment with this home cell, which is the first. Changes nothing.
///
/// # Errors
/// When the database cannot be read.
pub fn cells_of_deployment(url: &DatabaseUrl) -> Result<Vec<CellDatabase>> {
    let home = CellDatabase {
        id: CellId::HOME,
        name: "home".to_owned(),
        url: url.clone(),
    };
    let cells = inspect(url, |reader| Ok::<_, AppError>(reader.cells()?))?;
    let others = cells.into_iter().filter(|cell| cell.id != CellId::HOME);
    let others = others.map(|cell| {
        Ok(CellDatabase {
            id: cell.id,
            url: cell.database_url(url)?,
            name: cell.name,
        })
    });
    std::iter::once(Ok(home)).chain(others).collect()
}

/// The directory of a deployment, as far as it concerns its verification.
struct Home {
    /// The cell of the project that is verified.
    placed: Option<CellId>,
    /// The list of projects, if all are verified.
    listed: Option<ListedProjects>,
}

/// Verifies ledgers directly in the database. Calls `progress` with the number of verified events and the total. Ignores
/// events that are appended meanwhile.
///
/// # Errors
/// When the database cannot be read, or the log's key is encrypted and the encryption key is missing.
pub fn verify_log(
    reader: &mut Reader<'_>,
    options: &VerifyOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<LedgerReport>> {
    let found = FoundLedgers::read(reader, options)?;
    verify_ledgers(reader, &found, options, progress)
}

/// The heads of the ledgers, with their checkpoints and maps. The keys and the secret of the maps are read afterwards: the first
/// event has a key made, the first proof of a tenant the secret, and a rotation another key.
struct FoundLedgers {
    ledgers: Vec<StoredLedger>,
    maps: Vec<Option<StoredTenantMap>>,
}

impl FoundLedgers {
    fn read(reader: &mut Reader<'_>, options: &VerifyOptions) -> Result<Self> {
        let ledgers = reader.stored_ledgers(options.project_id)?;
        let maps = ledgers.iter().map(|ledger| reader.tenant_map(ledger.ledger_id));
        Ok(Self {
            maps: maps.collect::<Result<_, _>>()?,
            ledgers,
        })
    }
}

/// [`verify_log`] for these ledgers.
fn verify_ledgers(
    reader: &mut Reader<'_>,
    FoundLedgers { ledgers, maps }: &FoundLedgers,
    options: &VerifyOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<LedgerReport>> {
    if ledgers.is_empty() && options.project_id.is_some() && options.anchored.is_empty() {
        return Err(AppError::NotFound("project"));
    }
    let (keys, problem) = trusted_keys(reader, options)?;
    let total = ledgers.iter().map(|ledger| ledger.size.max(0).unsigned_abs());
    let mut verification = Verification {
        options,
        keys: &keys,
        key_problem: problem,
        head_key: head_key(reader, options.head_key.as_ref(), &options.encryption)?,
        tenant_map_secret: match options.tenant_map_secret {
            Some(secret) => secret,
            None => StoredMapSecret::read(reader, &options.encryption)?,
        },
        // If every event is at its position and the counts match, there are no stray events to search for.
        is_complete: options.project_id.is_none() && reader.has_no_strays()?,
        total: total.sum(),
        done: 0,
        progress,
    };
    let mut reports = Vec::with_capacity(ledgers.len());
    for (ledger, map) in ledgers.iter().zip(maps) {
        reports.push(verification.ledger(reader, ledger, map.clone())?);
    }
    reports.extend(verification.gone(ledgers));
    Ok(reports)
}

/// The keys that verify checkpoints, and how the database contradicts them. A given key may be one that the key of the database
/// has followed, by its statements.
fn trusted_keys(
    reader: &mut Reader<'_>,
    options: &VerifyOptions,
) -> Result<(Vec<VerifierKey>, Option<Problem>)> {
    let own = stored_keys(reader, &options.encryption);
    let Some(given) = &options.key else {
        return Ok((own?, None));
    };
    let trusted: Vec<VerifierKey> = [given].into_iter().chain(&options.followed).cloned().collect();
    match own {
        Ok(own) if own.contains(given) => Ok((own, None)),
        Ok(own) => {
            let other = own.first().map(|own| Problem::OtherKey(own.to_string()));
            Ok((trusted, other))
        }
        // It is encrypted, and the given key suffices with those that follow it.
        Err(AppError::SealedSecret(failure)) if failure.error == OpenError::NeedsKey => {
            let mut keys = successors_in(reader, given)?;
            keys.extend(trusted);
            Ok((keys, None))
        }
        Err(error) => Err(error),
    }
}

/// The key of the heads of the database, if it is at hand.
pub(crate) fn head_key(
    reader: &mut Reader<'_>,
    given: Option<&HeadKey>,
    keys: &KeyRing,
) -> Result<Option<HeadKey>> {
    let stored = reader.stored_head_key()?;
    let is_its_key = |key: &HeadKey| stored.id.is_none_or(|id| id == key.id());
    let sealed = stored.sealed.as_deref();
    let sealed = sealed.and_then(|sealed| keys.open_only_sealed(sealed, &head_key_place()).ok());
    let sealed = sealed.map(|secret| HeadKey::new(secret.as_bytes()));
    let key = given.cloned().into_iter().chain(sealed).find(is_its_key);
    if key.is_none() {
        log::warn!("the key of the heads is not here, so their codes are not verified");
    }
    Ok(key)
}

/// The verification of several ledgers.
struct Verification<'a> {
    options: &'a VerifyOptions,
    /// The key of the log, and those that it has followed.
    keys: &'a [VerifierKey],
    key_problem: Option<Problem>,
    head_key: Option<HeadKey>,
    tenant_map_secret: StoredMapSecret,
    is_complete: bool,
    total: u64,
    done: u64,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl<'a> Verification<'a> {
    /// Verifies a ledger. Its head, removals, events and records are read one after the other. Where something is found and the removals
    /// have gone on meanwhile, reads all of them again.
    fn ledger(
        &mut self,
        reader: &mut Reader<'_>,
        ledger: &StoredLedger,
        tenant_map: Option<StoredTenantMap>,
    ) -> Result<LedgerReport> {
        let (mut ledger, mut tenant_map, done) = (ledger.clone(), tenant_map, self.done);
        let mut walks = 1;
        loop {
            let ledger_id = ledger.ledger_id;
            let removals = reader.stored_removals(ledger_id)?;
            let (report, is_current) = self.walk(reader, &ledger, tenant_map, &removals)?;
            let is_last = walks == WALKS_MAX || report.findings.is_empty();
            if is_last || (is_current && reader.stored_removals(ledger_id)? == removals) {
                return Ok(report);
            }
            let found = FoundLedgers::read(reader, self.options)?;
            let mut found = found.ledgers.into_iter().zip(found.maps);
            let Some(present) = found.find(|(present, _)| present.ledger_id == ledger_id) else {
                return Ok(report);
            };
            (ledger, tenant_map) = present;
            self.done = done;
            walks += 1;
        }
    }

    /// Verifies a ledger once. Also says whether its head has the events of all removals that rows name.
    fn walk(
        &mut self,
        reader: &mut Reader<'_>,
        ledger: &StoredLedger,
        tenant_map: Option<StoredTenantMap>,
        removals: &[StoredRemoval],
    ) -> Result<(LedgerReport, bool)> {
        let size = ledger.size.max(0).unsigned_abs();
        let name = format!("{}/{}", ledger.project_id, ledger.environment);
        let stored = ledger.checkpoint.as_ref().map(|row| self.open(&name, &row.note));
        let remembered = self.remembered(&name);
        let known = remembered.and_then(Remembered::note);
        let known = known.map(|note| self.open(&name, note));
        let unsigned = remembered.map_or(&[][..], |known| &known.unsigned);
        let opened = [&stored, &known].map(|one| one.as_ref().and_then(|one| one.as_ref().ok()));
        let signed = opened[0].map(|checkpoint| checkpoint.head().size);
        let sizes = opened
            .into_iter()
            .flatten()
            .map(|checkpoint| checkpoint.head().size);
        let nothing = AnchoredLog::default();
        let anchored = self.options.anchored.get(&name).unwrap_or(&nothing);
        let sizes = sizes.chain(anchored.heads.iter().map(|anchored| anchored.head.size));
        let sizes = sizes.chain(unsigned.iter().map(|head| head.size));
        let sizes = sizes.chain([signed.unwrap_or(0)]);
        let now = self.options.now.unwrap_or(Timestamp::MIN);
        let removals = RemovalWalk::new(removals, size, ledger.log_name(), now);
        let mut walk = Walk::new(reader, ledger, size, self.head_key.as_ref(), removals, sizes);
        let map_key = match &self.tenant_map_secret {
            StoredMapSecret::Known(secret) => Some(TenantMapKey::of_log(secret, &name)),
            StoredMapSecret::Missing | StoredMapSecret::Sealed => None,
        };
        let are_maps_verified = !matches!(self.tenant_map_secret, StoredMapSecret::Sealed);
        walk.tenants = tenant_map.filter(|_| are_maps_verified).map(TenantWalk::new);
        let sizes = anchored.maps.iter().map(|anchored| anchored.map.size);
        walk.maps = map_key.as_ref().and_then(|key| MapWalk::new(sizes, key));
        let has_maps = walk.tenants.is_some() || walk.maps.is_some();
        walk.labels = map_key.clone().filter(|_| has_maps).map(Labels::new);
        if ledger.size < 0 {
            walk.findings.add(Finding::log(Problem::Size(ledger.size)));
        }
        if let Some(problem) = &self.key_problem {
            walk.findings.add(Finding::log(problem.clone()));
        }
        walk.events(&mut |events| {
            self.done += events;
            (self.progress)(self.done, self.total);
        })?;
        let removed = walk.removals.finish(&mut walk.findings);
        let head = walk.check_frontier(ledger)?;
        walk.check_head(ledger);
        if self.head_key.as_ref().is_some_and(|key| !ledger.is_sealed(key)) {
            walk.findings.add(Finding::log(Problem::ForgedHead));
        }
        for (opened, problem) in [
            (&stored, Problem::Checkpoint as fn(CheckpointError) -> Problem),
            (&known, Problem::Remembered),
        ] {
            match opened {
                Some(Ok(checkpoint)) => {
                    walk.check_continues(checkpoint.head(), Problem::CutOff, Problem::NotSigned)
                }
                Some(Err(Some(error))) => walk.findings.add(Finding::log(problem(error.clone()))),
                Some(Err(None)) => walk.findings.add(Finding::log(Problem::NoKey)),
                None => {}
            }
        }
        for head in unsigned {
            walk.check_continues(head, Problem::AcknowledgedCutOff, Problem::AcknowledgedDifferent);
        }
        let confirmed = walk.check_anchored(&anchored.heads, size);
        if are_maps_verified {
            walk.check_anchored_maps(&anchored.maps, map_key.as_ref(), confirmed);
        }
        if let (Some(column), Some(signed)) = (ledger.checkpoint_size, signed)
            && column != signed.cast_signed()
        {
            walk.findings
                .add(Finding::log(Problem::CheckpointSize { signed, column }));
        }
        if let Some(time) = self.options.signed_before {
            walk.check_unsigned(signed.unwrap_or(0), time);
        }
        walk.check_stray_tiles()?;
        walk.check_alerts(&removed)?;
        if let Some(tenants) = walk.tenants.take() {
            let keys = TenantKeys {
                of_heads: self.head_key.as_ref(),
                of_map: map_key.as_ref(),
            };
            walk.check_tenants(&tenants, keys)?;
        }
        if !self.is_complete || !walk.findings.is_empty() {
            let strays = walk.reader.stray_events(ledger.ledger_id, FINDINGS_MAX as i64)?;
            strays
                .iter()
                .for_each(|stray| walk.findings.add(stray_finding(stray)));
        }
        let is_current = !walk.removals.is_outdated;
        let (findings, findings_count) = walk.findings.finish();
        let report = LedgerReport {
            project_id: ledger.project_id.clone(),
            environment: ledger.environment.clone(),
            events: size,
            signed,
            root: head.map(|head| head.root),
            removed,
            findings,
            findings_count,
        };
        Ok((report, is_current))
    }

    /// The heads of a log that were signed, according to the database and to this node, and those that it could not sign.
    pub(super) fn signed_heads(&self, ledger: &StoredLedger) -> Vec<TreeHead> {
        let name = format!("{}/{}", ledger.project_id, ledger.environment);
        let remembered = self.remembered(&name);
        let known = remembered.and_then(Remembered::note);
        let stored = ledger.checkpoint.as_ref().map(|row| row.note.as_str());
        let notes = stored.into_iter().chain(known.map(|note| &**note));
        let opened = notes.filter_map(|note| self.open(&name, note).ok());
        let signed = opened.map(|checkpoint| *checkpoint.head());
        let unsigned = remembered
            .into_iter()
            .flat_map(|known| known.unsigned.iter().copied());
        signed.chain(unsigned).collect()
    }

    /// What this node knows of a log.
    fn remembered(&self, name: &str) -> Option<&'a Remembered> {
        let options: &'a VerifyOptions = self.options;
        options.known.get(self.origin(name)?.as_str())
    }

    /// The origin of a log, if there is a key.
    fn origin(&self, name: &str) -> Option<Origin> {
        Origin::parse(&format!("{}/{name}", self.keys.first()?.name().as_str())).ok()
    }

    /// A signed note of a log; no error where there is no key.
    fn open(&self, name: &str, note: &str) -> Result<SignedCheckpoint, Option<CheckpointError>> {
        let origin = self.origin(name).ok_or(None)?;
        SignedCheckpoint::open(note, &origin, self.keys).map_err(Some)
    }

    /// The logs that anchors have, or that this node has signed, and the database does not have.
    fn gone(&self, ledgers: &[StoredLedger]) -> Vec<LedgerReport> {
        let Some(key) = self.keys.first() else {
            return Vec::new();
        };
        let prefix = format!("{}/", key.name().as_str());
        let names: HashSet<String> = ledgers
            .iter()
            .map(|ledger| format!("{}/{}", ledger.project_id, ledger.environment))
            .collect();
        let mut gone = BTreeMap::new();
        for (origin, known) in &self.options.known {
            if let Some(name) = origin.strip_prefix(&prefix) {
                let signed = known.note().and_then(|note| self.open(name, note).ok());
                gone.insert(name, (signed.map(|signed| signed.head().size), Problem::LogGone));
            }
        }
        for (name, log) in &self.options.anchored {
            if let Some(last) = log.heads.last() {
                let problem = Problem::AnchoredGone(Arc::clone(&last.anchor));
                gone.insert(name, (Some(last.head.size), problem));
            }
        }
        let project_id = self.options.project_id.map(|id| id.to_string());
        let report = |(name, (signed, problem)): (&str, (Option<u64>, Problem))| {
            let (project, environment) = name.split_once('/')?;
            let is_asked = project_id.as_deref().is_none_or(|id| id == project);
            (is_asked && !names.contains(name)).then(|| LedgerReport {
                project_id: project.to_owned(),
                environment: environment.to_owned(),
                events: 0,
                signed,
                root: None,
                removed: Removed::default(),
                findings: vec![Finding::log(problem)],
                findings_count: 1,
            })
        };
        gone.into_iter().filter_map(report).collect()
    }
}

fn stray_finding(stray: &StrayEvent) -> Finding {
    let seq = stray.seq.and_then(|seq| u64::try_from(seq).ok());
    let id = <[u8; 16]>::try_from(stray.id.as_slice()).map(audit_domain::EventId::from_bytes);
    Finding {
        seqs: seq.map(|seq| seq..seq + 1),
        id: id.ok(),
        problem: match stray.seq {
            Some(_) => Problem::Added,
            None => Problem::Gone,
        },
    }
}
