use super::tests::{NOW, claims, secret, verify_text};
use super::*;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use proptest::prelude::*;

proptest! {
    #[test]
    fn what_was_signed_is_read_back(
        project in any::<[u8; 16]>(),
        tenant_id in "\\PC{1,64}",
        tier in "[a-z]{1,20}",
        lifetime in TokenLifetime::SECONDS_MIN..=TokenLifetime::SECONDS_MAX,
        random in any::<[u8; 16]>(),
        key in any::<[u8; 32]>(),
    ) {
        let secret = ViewerSecret::from_parts("k", key);
        let lifetime = TokenLifetime::from_seconds(lifetime).unwrap();
        let project = ProjectId::from_random(project);
        let claims = ViewerClaims::issue(project, tenant_id, (tier, NOW), NOW, lifetime, random);
        let token = ViewerTokenText::parse(sign(&claims, &secret).unwrap().as_str()).unwrap();
        prop_assert_eq!(verify(&token, &[secret], NOW), Ok(claims));
    }

    #[test]
    fn one_changed_character_is_noticed(at in any::<prop::sample::Index>(), with in "[A-Za-z0-9_.-]") {
        let token = sign(&claims(), &secret()).unwrap();
        let mut text = token.as_str().to_owned();
        let at = at.index(text.len());
        text.replace_range(at..=at, &with);
        let expected = if text == token.as_str() { Ok(claims()) } else { Err(TokenError::Invalid) };
        prop_assert_eq!(verify_text(&text, NOW), expected);
    }

    #[test]
    fn one_dropped_or_added_character_is_noticed(at in any::<prop::sample::Index>(), added in "[A-Za-z0-9_.-]") {
        let token = sign(&claims(), &secret()).unwrap();
        let at = at.index(token.as_str().len());
        let mut text = token.as_str().to_owned();
        text.remove(at);
        prop_assert_eq!(verify_text(&text, NOW), Err(TokenError::Invalid));
        let mut text = token.as_str().to_owned();
        text.insert_str(at, &added);
        prop_assert_eq!(verify_text(&text, NOW), Err(TokenError::Invalid));
        prop_assert_eq!(verify_text(&format!("{}{added}", token.as_str()), NOW), Err(TokenError::Invalid));
    }

    #[test]
    fn one_flipped_bit_of_a_part_is_noticed(part in 0..3_usize, bit in any::<prop::sample::Index>()) {
        let token = sign(&claims(), &secret()).unwrap();
        let mut parts: Vec<Vec<u8>> = token.jwt().split('.').map(|part| BASE64URL.decode(part).unwrap()).collect();
        let bit = bit.index(parts[part].len() * 8);
        parts[part][bit / 8] ^= 1 << (bit % 8);
        let parts: Vec<String> = parts.iter().map(|part| BASE64URL.encode(part)).collect();
        prop_assert_eq!(verify_text(&format!("vt_{}", parts.join(".")), NOW), Err(TokenError::Invalid));
    }

    #[test]
    fn any_text_is_refused_without_panic(text in "(vt_)?[A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_-]{0,40}\\.\\PC{0,40}") {
        prop_assert_eq!(verify_text(&text, NOW), Err(TokenError::Invalid));
    }
}
