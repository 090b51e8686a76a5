//! A connection paired with the cached state of its database.
//!
//! The variants of diesel's `MultiConnection` are connections. A session is one, so a `match` on
//! [`AnySession`](super::AnySession) yields a connection and the cached state of the same database.

use diesel::connection::{
    AnsiTransactionManager, CacheSize, Connection, ConnectionSealed, Instrumentation, LoadConnection,
    MultiConnectionHelper, SimpleConnection, TransactionManager, TransactionManagerStatus,
};
use diesel::expression::QueryMetadata;
use diesel::migration::MigrationConnection;
use diesel::query_builder::{Query, QueryFragment, QueryId};
use diesel::r2d2::R2D2Connection;
use diesel::sql_types::TypeMetadata;
use diesel::{ConnectionError, ConnectionResult, QueryResult};
use std::any::Any;

/// A connection of type `C` with the cached state `M` of its database. Every call goes to the connection.
pub struct Session<C, M> {
    pub(crate) connection: C,
    pub(crate) memory: M,
}

impl<C: SimpleConnection, M> SimpleConnection for Session<C, M> {
    fn batch_execute(&mut self, query: &str) -> QueryResult<()> {
        self.connection.batch_execute(query)
    }
}

impl<C: ConnectionSealed, M> ConnectionSealed for Session<C, M> {}

impl<C, M: Send + 'static> Connection for Session<C, M>
where
    C: Connection<TransactionManager = AnsiTransactionManager>,
{
    type Backend = C::Backend;
    type TransactionManager = SessionTransactions;

    fn establish(_: &str) -> ConnectionResult<Self> {
        let reason = "a session is opened by its database, which has the cached state";
        Err(ConnectionError::BadConnection(reason.to_owned()))
    }

    fn execute_returning_count<T>(&mut self, source: &T) -> QueryResult<usize>
    where
        T: QueryFragment<Self::Backend> + QueryId,
    {
        self.connection.execute_returning_count(source)
    }

    fn transaction_state(&mut self) -> &mut AnsiTransactionManager {
        self.connection.transaction_state()
    }

    fn instrumentation(&mut self) -> &mut dyn Instrumentation {
        self.connection.instrumentation()
    }

    fn set_instrumentation(&mut self, instrumentation: impl Instrumentation) {
        self.connection.set_instrumentation(instrumentation);
    }

    fn set_prepared_statement_cache_size(&mut self, size: CacheSize) {
        self.connection.set_prepared_statement_cache_size(size);
    }
}

/// Transactions of a session are those of its connection.
pub struct SessionTransactions;

impl<C, M: Send + 'static> TransactionManager<Session<C, M>> for SessionTransactions
where
    C: Connection<TransactionManager = AnsiTransactionManager>,
{
    type TransactionStateData = AnsiTransactionManager;

    fn begin_transaction(session: &mut Session<C, M>) -> QueryResult<()> {
        AnsiTransactionManager::begin_transaction(&mut session.connection)
    }

    fn rollback_transaction(session: &mut Session<C, M>) -> QueryResult<()> {
        AnsiTransactionManager::rollback_transaction(&mut session.connection)
    }

    fn commit_transaction(session: &mut Session<C, M>) -> QueryResult<()> {
        AnsiTransactionManager::commit_transaction(&mut session.connection)
    }

    fn transaction_manager_status_mut(session: &mut Session<C, M>) -> &mut TransactionManagerStatus {
        AnsiTransactionManager::transaction_manager_status_mut(&mut session.connection)
    }
}

impl<B, C, M: Send + 'static> LoadConnection<B> for Session<C, M>
where
    C: LoadConnection<B> + Connection<TransactionManager = AnsiTransactionManager> + 'static,
{
    type Cursor<'conn, 'query> = C::Cursor<'conn, 'query>;
    type Row<'conn, 'query> = C::Row<'conn, 'query>;

    fn load<'conn, 'query, T>(&'conn mut self, source: T) -> QueryResult<Self::Cursor<'conn, 'query>>
    where
        T: Query + QueryFragment<Self::Backend> + QueryId + 'query,
        Self::Backend: QueryMetadata<T::SqlType>,
    {
        self.connection.load(source)
    }
}

impl<C, M: Send + 'static> MigrationConnection for Session<C, M>
where
    C: MigrationConnection + Connection<TransactionManager = AnsiTransactionManager>,
{
    fn setup(&mut self) -> QueryResult<usize> {
        self.connection.setup()
    }
}

impl<C, M: Send + 'static> R2D2Connection for Session<C, M>
where
    C: R2D2Connection + Connection<TransactionManager = AnsiTransactionManager>,
{
    fn ping(&mut self) -> QueryResult<()> {
        self.connection.ping()
    }

    fn is_broken(&mut self) -> bool {
        self.connection.is_broken()
    }
}

impl<C, M: Send + 'static> MultiConnectionHelper for Session<C, M>
where
    C: MultiConnectionHelper + Connection<TransactionManager = AnsiTransactionManager>,
{
    fn to_any<'a>(lookup: &mut <C::Backend as TypeMetadata>::MetadataLookup) -> &mut (dyn Any + 'a) {
        C::to_any(lookup)
    }

    fn from_any(lookup: &mut dyn Any) -> Option<&mut <C::Backend as TypeMetadata>::MetadataLookup> {
        C::from_any(lookup)
    }
}
