use super::*;

/// The beginning of a PNG file: signature and header (RFC 2083, sections 3.1 and 4.1.1).
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0]);
    bytes
}

/// A JPEG file up to its frame header (ITU-T T.81, section B.2.2).
fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8, 0xff, 0xe0, 0, 16];
    bytes.extend(b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0");
    bytes.extend([0xff, 0xc0, 0, 17, 8]);
    bytes.extend(height.to_be_bytes());
    bytes.extend(width.to_be_bytes());
    bytes.extend([3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
    bytes
}

/// A lossless WebP file up to its size (RFC 9649, section 3.4).
fn webp(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f".to_vec();
    bytes.extend(((width - 1) | (height - 1) << 14).to_le_bytes());
    bytes.extend([0; 8]);
    bytes
}

fn url(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", STANDARD.encode(bytes))
}

#[test]
fn a_logo_is_an_image_of_the_type_that_its_url_names() {
    let images = [
        ("image/png", png(64, 32)),
        ("image/jpeg", jpeg(64, 32)),
        ("image/webp", webp(64, 32)),
    ];
    for (media_type, bytes) in &images {
        let text = url(media_type, bytes);
        let logo = text.parse::<Logo>();
        assert_eq!(logo.map(|logo| logo.to_string()), Ok(text), "{media_type}");
        for (other, _) in images.iter().filter(|(other, _)| other != media_type) {
            assert_eq!(url(other, bytes).parse::<Logo>(), Err(LogoError::OtherType));
        }
    }
}

#[test]
fn what_can_contain_code_is_no_logo() {
    let svg = br#"<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>"#;
    assert_eq!(url("image/svg+xml", svg).parse::<Logo>(), Err(LogoError::Form));
    assert_eq!(url("text/html", svg).parse::<Logo>(), Err(LogoError::Form));
    for media_type in Logo::MEDIA_TYPES {
        for bytes in [&svg[..], b"", b"GIF89a\x01\0\x01\0\0\0\0;"] {
            assert_eq!(url(media_type, bytes).parse::<Logo>(), Err(LogoError::OtherType));
        }
    }
    let hidden = format!("{}\" onerror=\"alert(1)", url("image/png", &png(1, 1)));
    for text in [
        "",
        "data:",
        "javascript:alert(1)",
        "data:image/png,x",
        "https://a/b.png",
        &hidden,
    ] {
        assert_eq!(text.parse::<Logo>(), Err(LogoError::Form), "{text}");
    }
}

#[test]
fn a_logo_has_limits_of_bytes_and_of_pixels() {
    let filled = |bytes: usize| {
        let mut image = png(1, 1);
        image.resize(bytes, 0);
        url("image/png", &image)
    };
    assert!(filled(Logo::BYTES_MAX).parse::<Logo>().is_ok());
    assert_eq!(
        filled(Logo::BYTES_MAX + 1).parse::<Logo>(),
        Err(LogoError::TooLarge)
    );
    assert_eq!(
        filled(10 * Logo::BYTES_MAX).parse::<Logo>(),
        Err(LogoError::TooLarge)
    );
    let max = Logo::SIDE_PIXELS_MAX as u32;
    assert!(url("image/png", &png(max, max)).parse::<Logo>().is_ok());
    for image in [png(max + 1, 1), png(1, max + 1), png(u32::MAX, u32::MAX)] {
        assert_eq!(url("image/png", &image).parse::<Logo>(), Err(LogoError::TooWide));
    }
    let wide = [
        ("image/jpeg", jpeg(u16::MAX, 1)),
        ("image/webp", webp(1, max + 1)),
    ];
    for (media_type, image) in wide {
        assert_eq!(url(media_type, &image).parse::<Logo>(), Err(LogoError::TooWide));
    }
}

/// Cut anywhere, and with each byte replaced by values that length fields and markers have.
fn changed(image: &[u8]) -> Vec<Vec<u8>> {
    let cut = (0..image.len()).map(|length| image[..length].to_vec());
    let replaced = (0..image.len()).flat_map(|at| {
        [0, 1, 0x7f, 0x80, 0xd9, 0xfe, 0xff].map(|byte| {
            let mut image = image.to_vec();
            image[at] = byte;
            image
        })
    });
    cut.chain(replaced).collect()
}

#[test]
fn a_damaged_image_is_refused_or_is_a_logo_of_the_same_bytes() {
    let images = [
        ("image/png", png(64, 32)),
        ("image/jpeg", jpeg(64, 32)),
        ("image/webp", webp(64, 32)),
    ];
    for (media_type, image) in images {
        let mut refused = 0;
        for image in changed(&image) {
            match Logo::new(media_type, image.clone()) {
                Ok(logo) => assert_eq!(logo.to_string(), url(media_type, &image)),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > image.len(), "{media_type}: {refused}");
    }
}
