//! The macro for statements that run for every commit, or for every event of one.
//!
//! Diesel plans its updates and upserts again each time, and walks through a wide insert twice each time before it finds
//! the cached statement. A statement of this macro is cached by its type.

/// Defines a statement by the pieces of its text, each with the parameter that follows it, and the last piece.
macro_rules! statement {
    (
        $backend:ident;
        $(#[$doc:meta])*
        $name:ident $(<$lifetime:lifetime>)? {
            $($(#[$field_doc:meta])* $text:literal $field:ident: $type:ty => $sql_type:ty,)*
        } $end:literal
    ) => {
        $(#[$doc])*
        pub(crate) struct $name $(<$lifetime>)? {
            $($(#[$field_doc])* pub(crate) $field: $type,)*
        }

        const _: () = {
            pub(crate) struct Id;

            impl $(<$lifetime>)? QueryId for $name $(<$lifetime>)? {
                type QueryId = Id;

                const HAS_STATIC_QUERY_ID: bool = true;
            }
        };

        impl $(<$lifetime>)? QueryFragment<$backend> for $name $(<$lifetime>)? {
            fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, $backend>) -> QueryResult<()> {
                $(
                    pass.push_sql($text);
                    pass.push_bind_param::<$sql_type, _>(&self.$field)?;
                )*
                pass.push_sql($end);
                Ok(())
            }
        }

        impl<$($lifetime,)? C> RunQueryDsl<C> for $name $(<$lifetime>)? {}
    };
}

pub(crate) use statement;
