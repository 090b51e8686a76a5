mod behaviors;
mod ingest;
mod rules;
mod test;
