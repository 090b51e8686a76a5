use super::*;
use crate::streaming::streamed;
use actix_web::body::to_bytes;
use actix_web::rt;
use flate2::read::GzDecoder;
use std::io::Read;

fn inflated(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut inflated = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut inflated)?;
    Ok(inflated)
}

fn owner(name: &str) -> Owner {
    Owner::Address(name.to_owned())
}

fn one() -> Holding {
    compressor(&Compressors::default().streamed, owner("a")).unwrap()
}

/// Exports keep their compressors for as long as they last: those of one organization leave some to others.
#[test]
fn an_owner_has_a_share_of_the_compressors_and_another_one_finds_some() {
    let compressors = Compressors::default();
    let all_of = |name: &str| -> Vec<_> {
        std::iter::from_fn(|| compressor(&compressors.streamed, owner(name))).collect()
    };
    let greedy = all_of("a");
    assert_eq!(greedy.len(), 5);
    assert_eq!(all_of("b").len(), 2);
    assert_eq!(compressors.whole.held(), 0);
    drop(greedy);
    assert_eq!(all_of("b").len(), 5);
}

#[actix_web::test]
async fn a_streamed_body_inflates_to_what_was_sent() {
    let (pieces, body) = streamed();
    let sent: Vec<u8> = (0..200_000u32).flat_map(|number| number.to_le_bytes()).collect();
    let expected = sent.clone();
    rt::spawn(async move {
        pieces.send(sent.into()).await.unwrap();
        pieces.end().await.unwrap();
    });
    let body = to_bytes(GzipBody::new(BoxBody::new(body), one())).await.unwrap();
    assert!(body.len() < expected.len());
    assert_eq!(inflated(&body).unwrap(), expected);
}

#[actix_web::test]
async fn a_streamed_body_that_breaks_off_has_no_end() {
    let (pieces, body) = streamed();
    rt::spawn(async move { pieces.send("half".into()).await });
    assert!(to_bytes(GzipBody::new(BoxBody::new(body), one())).await.is_err());
}
