//! Summaries of events.

use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::events::{RemovedBefore, as_stored, permitted};
use crate::reading::ReadAccess;
use crate::service::Selection;
use audit_auth::Readers;
use audit_domain::{EventFilter, Interval, TimeZone, ViewerRoute, Violations};
use audit_store::{EventSummary, StoreError, SummaryQuery, SummaryRefusal};

/// A request for a summary of events. Ids in the filter are unredacted; redaction may have stored them in other forms.
#[derive(Clone, Debug)]
pub struct SummaryRequest {
    /// The filter.
    pub filter: EventFilter,
    /// The length of the buckets; `None` if the range of time chooses it.
    pub interval: Option<Interval>,
    /// The time zone in whose calendar buckets begin.
    pub zone: TimeZone,
    /// Whether buckets are split by category.
    pub splits_by_category: bool,
}

impl Presented<Readers> {
    /// The summary of the events that the holder of the credential may see, and the latest time before which a removal has taken events
    /// of the log.
    ///
    /// # Errors
    /// Those of [`Self::authenticate`]; [`AppError::Forbidden`] when the tier of the viewer has no summaries;
    /// [`AppError::NotFound`] when the credential has no access to the project;
    /// [`AppError::Invalid`] when the range of time has too many buckets, or the index cannot count what the filter selects and
    /// it is too much to be read; [`AppError::Unavailable`] when it is too much to be read while the index is rebuilt.
    pub fn summary(
        &self,
        selection: Selection,
        request: SummaryRequest,
    ) -> Result<(EventSummary, Option<RemovedBefore>)> {
        self.in_its_cell(selection.project_id, |presented| {
            presented.summary_here(selection, request.clone())
        })
    }

    fn summary_here(
        &self,
        selection: Selection,
        request: SummaryRequest,
    ) -> Result<(EventSummary, Option<RemovedBefore>)> {
        let service = &self.service;
        let prepare = |reader: &mut audit_store::Reader<'_>| {
            let ReadAccess {
                principal,
                scope,
                tier,
            } = self.read_access(reader, selection, Some(ViewerRoute::Summary))?;
            let filter = permitted(&principal, &scope, request.filter.clone())?;
            let query = SummaryQuery {
                ledger_id: scope.ledger_id,
                filter: as_stored(&service.stream_engine, filter),
                tier,
                interval: request.interval,
                zone: request.zone.clone(),
                splits_by_category: request.splits_by_category,
            };
            Ok((scope.ledger_id, query, scope))
        };
        let (summary, _, scope) = service.read_ledger(prepare, |reader, query| reader.summary(query))?;
        Ok((summary.map_err(refused)?, service.known_removed_before(&scope)))
    }
}

pub(crate) fn refused(refusal: SummaryRefusal) -> AppError {
    match refusal {
        SummaryRefusal::TooManyBuckets(error) => Violations::one("interval", error).into(),
        SummaryRefusal::Uncountable(field) => Violations::one(
            field,
            "selects too many events that cannot be counted; give an exact action, a prefix that ends with .*, shorter words, longer \
             prefixes, or start_date and end_date",
        )
        .into(),
        SummaryRefusal::IndexIncomplete => AppError::Unavailable(StoreError::Unreachable(
            "the index is being rebuilt, and there are too many events to count them without it".to_owned(),
        )),
    }
}
