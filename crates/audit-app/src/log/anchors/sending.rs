//! Sends anchors to their places.

use super::lost::{DOCUMENT, TIME_STAMP};
use super::{AnchorPlace, AnchorPlaces, AnchorWebhook, PlaceStatistics};
use crate::error::Result;
use crate::service::AuditLog;
use audit_anchors::{PlaceError, TimeStampRequest, store_in};
use audit_domain::Timestamp;
use audit_ledger::{Anchor, SignedAnchor};
use audit_store::{AnchorStage, AnchorState};
use audit_webhooks::{MessageId, Outcome, OutgoingRequest, SignatureHeaders};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::atomic::Ordering;

/// A node that does not end an attempt loses its claim: longer than all requests of one take at most.
const CLAIM_SECONDS: i64 = 300;
/// How long anchors stay in the database: those that all places have, and others.
const SENT_KEPT_SECONDS: i64 = 86_400;
const UNSENT_KEPT_SECONDS: i64 = 7 * 86_400;

/// The `type` of the message to a webhook.
const MESSAGE_TYPE: &str = "log.anchored";

/// Why a webhook does not have an anchor.
#[derive(Debug, thiserror::Error)]
enum WebhookError {
    #[error("the response was {0}")]
    Status(u16),
    #[error("there was no response ({0})")]
    Failed(&'static str),
    #[error("too many concurrent name lookups")]
    TooManyLookups,
}

/// An anchor to send, verified.
struct Outgoing {
    anchor: SignedAnchor,
    time_stamp: Option<Vec<u8>>,
}

impl Outgoing {
    /// What a place has that has everything.
    const fn stage(&self) -> AnchorStage {
        match self.time_stamp {
            Some(_) => AnchorStage::Stamped,
            None => AnchorStage::Document,
        }
    }

    /// The names and contents of its files.
    fn files(&self) -> impl Iterator<Item = (String, &[u8])> {
        let name = self.anchor.anchor().file_name();
        let stamp = self.time_stamp.as_deref();
        let stamp = stamp.map(|stamp| (format!("{name}{TIME_STAMP}"), stamp));
        let document = (format!("{name}{DOCUMENT}"), self.anchor.note().as_bytes());
        // The document last: a reader that finds it finds its time stamp, if there is one.
        stamp.into_iter().chain([document])
    }
}

/// Whether a place that has this stage of an anchor lacks something.
fn is_behind(stage: AnchorStage, state: &AnchorState) -> bool {
    match state.is_stamped {
        true => stage < AnchorStage::Stamped,
        false => stage < AnchorStage::Document,
    }
}

impl AuditLog {
    /// Sends the stored anchors to the places that do not have them, and removes old ones. Call it every few seconds. A place
    /// that fails keeps no other place from its anchors, and is tried again after a pause.
    ///
    /// # Errors
    /// When the database fails.
    pub fn send_anchors(&self, places: &AnchorPlaces) -> Result<()> {
        self.restore_remembered_anchor()?;
        let mut states = self.store.read(|reader| reader.anchor_states())?;
        for state in &mut states {
            if self.has_work(places, state, self.clock.now()) {
                self.send_anchor(places, state)?;
            }
        }
        if let Some(directory) = &places.directory {
            self.fill_directory(directory, &states)?;
        }
        self.note_pending_anchors(places, &states);
        self.remove_old_anchors(places, &states)
    }

    /// What this process knows of the places of anchors.
    pub fn anchor_statistics(&self) -> Vec<PlaceStatistics> {
        self.anchoring.places.statistics()
    }

    /// The start of the last interval that is known to have an anchor, in seconds since the Unix epoch; 0 for none.
    pub fn last_anchor_seconds(&self) -> i64 {
        Timestamp::from_micros(self.anchoring.made_for.load(Ordering::Relaxed)).as_seconds()
    }

    /// Whether a place that may be tried does not have an anchor.
    fn has_work(&self, places: &AnchorPlaces, state: &AnchorState, now: Timestamp) -> bool {
        let ready = |place| self.anchoring.places.is_ready(place, now);
        let is_claimed = now < state.claimed_until && state.claimed_until <= now.plus_seconds(CLAIM_SECONDS);
        if is_claimed || self.is_forged(state) {
            return false;
        }
        places.authority.is_some() && !state.is_stamped && ready(AnchorPlace::TimeStamp)
            || places.webhook.is_some() && is_behind(state.webhook, state) && ready(AnchorPlace::Webhook)
            || places.bucket.is_some() && is_behind(state.bucket, state) && ready(AnchorPlace::Bucket)
    }

    /// Attempts to send an anchor, unless another node does.
    fn send_anchor(&self, places: &AnchorPlaces, state: &mut AnchorState) -> Result<()> {
        let (number, now) = (state.number, self.clock.now());
        let until = now.plus_seconds(CLAIM_SECONDS);
        let claimed = self
            .store
            .write(move |writer| writer.claim_anchor(number, now, until))?;
        let Some(claimed) = claimed else {
            return Ok(());
        };
        *state = claimed;
        if let Some(mut outgoing) = self.outgoing_anchor(number)? {
            self.stamp_anchor(places, state, &mut outgoing)?;
            self.send_to_places(places, state, &outgoing);
        }
        state.claimed_until = self.clock.now();
        let state = *state;
        self.store.write(move |writer| writer.update_anchor(&state))?;
        Ok(())
    }

    /// A stored anchor; `None` where it is not one that the log's key has signed, which is logged.
    fn outgoing_anchor(&self, number: i64) -> Result<Option<Outgoing>> {
        let Some(stored) = self.store.read(|reader| reader.anchor(number))? else {
            return Ok(None);
        };
        let opened = self.log_signer()?.open_anchor(&stored.document);
        let is_its_own =
            |anchor: &Anchor| anchor.number == number.unsigned_abs() && anchor.due == stored.due_at;
        let reason = match opened {
            Ok(anchor) if is_its_own(anchor.anchor()) => {
                let time_stamp = stored.time_stamp;
                self.remember_anchor(&anchor, time_stamp.as_deref());
                return Ok(Some(Outgoing { anchor, time_stamp }));
            }
            Ok(_) => "it is another anchor".to_owned(),
            Err(error) => error.to_string(),
        };
        if self.anchoring.forged.lock().insert(number) {
            log::error!("anchor {number} in the database is not sent: {reason}");
        }
        Ok(None)
    }

    fn is_forged(&self, state: &AnchorState) -> bool {
        self.anchoring.forged.lock().contains(&state.number)
    }

    /// Asks for a time stamp if there is none. It is stored before it is sent, because a place refuses a second one.
    fn stamp_anchor(
        &self,
        places: &AnchorPlaces,
        state: &mut AnchorState,
        outgoing: &mut Outgoing,
    ) -> Result<()> {
        let (place, now) = (AnchorPlace::TimeStamp, self.clock.now());
        let Some(authority) = &places.authority else {
            return Ok(());
        };
        if outgoing.time_stamp.is_some() || !self.anchoring.places.is_ready(place, now) {
            return Ok(());
        }
        let digest = outgoing.anchor.digest();
        let request = TimeStampRequest::new(*digest.as_bytes(), self.entropy.bytes());
        let stamped = self
            .anchoring
            .places
            .note(place, authority.stamp(&request), self.clock.now());
        if let Some(stamp) = stamped {
            let (number, stored) = (state.number, stamp.clone());
            self.store
                .write(move |writer| writer.store_time_stamp(number, &stored))?;
            self.remember_anchor(&outgoing.anchor, Some(&stamp));
            outgoing.time_stamp = Some(stamp);
            state.is_stamped = true;
        }
        Ok(())
    }

    /// Sends an anchor to the webhook and the bucket if they do not have it.
    fn send_to_places(&self, places: &AnchorPlaces, state: &mut AnchorState, outgoing: &Outgoing) {
        let states = &self.anchoring.places;
        if let Some(webhook) = &places.webhook
            && is_behind(state.webhook, state)
            && states.is_ready(AnchorPlace::Webhook, self.clock.now())
        {
            let sent = webhook.send(outgoing, self.clock.now());
            if states
                .note(AnchorPlace::Webhook, sent, self.clock.now())
                .is_some()
            {
                state.webhook = outgoing.stage();
            }
        }
        if let Some(bucket) = &places.bucket
            && is_behind(state.bucket, state)
            && states.is_ready(AnchorPlace::Bucket, self.clock.now())
        {
            let made_at = outgoing.anchor.anchor().time;
            let store =
                |(name, content): (String, &[u8])| bucket.store(&name, content, made_at, self.clock.now());
            let sent: Result<(), PlaceError> = outgoing.files().try_for_each(store);
            if states.note(AnchorPlace::Bucket, sent, self.clock.now()).is_some() {
                state.bucket = outgoing.stage();
            }
        }
    }

    /// Writes anchors to the directory of this node that are not there. Each node does so for itself.
    fn fill_directory(&self, directory: &Path, states: &[AnchorState]) -> Result<()> {
        let place = AnchorPlace::Directory;
        let mut in_directory = self.anchoring.in_directory.lock();
        in_directory.retain(|number, _| states.iter().any(|state| state.number == *number));
        for state in states {
            let is_there = in_directory.get(&state.number) >= Some(&state.is_stamped);
            if is_there || self.is_forged(state) || !self.anchoring.places.is_ready(place, self.clock.now()) {
                continue;
            }
            let Some(outgoing) = self.outgoing_anchor(state.number)? else {
                continue;
            };
            let mut files = outgoing.files();
            let stored = files.try_for_each(|(name, content)| store_in(directory, &name, content));
            let noted = self.anchoring.places.note(place, stored, self.clock.now());
            if noted.is_some() {
                in_directory.insert(state.number, outgoing.time_stamp.is_some());
            }
        }
        Ok(())
    }

    fn is_in_directory(&self, state: &AnchorState) -> bool {
        let in_directory = self.anchoring.in_directory.lock();
        in_directory.get(&state.number) >= Some(&state.is_stamped)
    }

    fn note_pending_anchors(&self, places: &AnchorPlaces, states: &[AnchorState]) {
        let note = |place, is_used: bool, is_pending: &dyn Fn(&AnchorState) -> bool| {
            if is_used {
                let pending = states.iter().filter(|state| is_pending(state)).count();
                self.anchoring.places.note_pending(place, pending);
            }
        };
        note(AnchorPlace::TimeStamp, places.authority.is_some(), &|state| {
            !state.is_stamped
        });
        note(AnchorPlace::Webhook, places.webhook.is_some(), &|state| {
            is_behind(state.webhook, state)
        });
        note(AnchorPlace::Bucket, places.bucket.is_some(), &|state| {
            is_behind(state.bucket, state)
        });
        note(AnchorPlace::Directory, places.directory.is_some(), &|state| {
            !self.is_in_directory(state)
        });
    }

    /// Removes anchors that all places have, and those that are so old that no place gets them any more.
    fn remove_old_anchors(&self, places: &AnchorPlaces, states: &[AnchorState]) -> Result<()> {
        let now = self.clock.now();
        // The last one stays.
        for state in states.iter().skip(1) {
            let is_sent = (places.directory.is_none() || self.is_in_directory(state))
                && (places.authority.is_none() || state.is_stamped)
                && (places.webhook.is_none() || !is_behind(state.webhook, state))
                && (places.bucket.is_none() || !is_behind(state.bucket, state));
            let kept_seconds = match is_sent {
                true => SENT_KEPT_SECONDS,
                false => UNSENT_KEPT_SECONDS,
            };
            if state.due_at.plus_seconds(kept_seconds) > now {
                continue;
            }
            let number = state.number;
            if !is_sent {
                log::error!("anchor {number} was not sent to every place, and is removed");
            }
            self.store.write(move |writer| writer.delete_anchor(number))?;
        }
        Ok(())
    }
}

impl AnchorWebhook {
    fn send(&self, outgoing: &Outgoing, now: Timestamp) -> Result<(), WebhookError> {
        let anchor = outgoing.anchor.anchor();
        let mut data = json!({
            "name": anchor.file_name(),
            "number": anchor.number,
            "document": outgoing.anchor.note(),
        });
        if let Some(stamp) = &outgoing.time_stamp {
            data["time_stamp"] = STANDARD.encode(stamp).into();
        }
        let body = json!({"type": MESSAGE_TYPE, "timestamp": anchor.time.to_string(), "data": data});
        let body = body.to_string();
        // The same for every attempt, on every node.
        let digest: [u8; 32] = Sha256::digest(&body).into();
        let id = MessageId::from_bytes(std::array::from_fn(|position| digest[position]));
        let signature = SignatureHeaders::sign(id, now, body.as_bytes(), &self.secret, &[]);
        let sent = self.sender.send(&OutgoingRequest {
            url: &self.url,
            signature: &signature,
            body: body.as_bytes(),
        });
        match sent.map_err(|_| WebhookError::TooManyLookups)? {
            outcome if outcome.is_delivered() => Ok(()),
            Outcome::Answered { status, .. } => Err(WebhookError::Status(status)),
            Outcome::Failed(kind) => Err(WebhookError::Failed(kind.as_str())),
        }
    }
}
