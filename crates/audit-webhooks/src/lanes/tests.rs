use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn endpoint(webhook: usize, organization: usize, host: usize) -> Endpoint {
    Endpoint {
        webhook_id: format!("wh_{webhook}"),
        organization_id: format!("o_{organization}"),
        host: format!("{host}.example"),
    }
}

/// An endpoint with its own organization and host.
fn alone(number: usize) -> Endpoint {
    endpoint(number, number, number)
}

fn due(endpoint: &Endpoint, due_at: i64) -> Waiting {
    Waiting {
        endpoint: endpoint.clone(),
        due_at,
    }
}

fn waiting(endpoints: &[Endpoint]) -> Vec<Waiting> {
    endpoints.iter().map(|endpoint| due(endpoint, 0)).collect()
}

/// Lanes after one attempt at each of these endpoints.
fn after(endpoints: &[Endpoint], course: Course) -> Lanes {
    let mut lanes = Lanes::default();
    for endpoint in endpoints {
        let lane = lanes.choose(waiting(std::slice::from_ref(endpoint))).remove(0);
        lanes.finish(lane, course);
    }
    lanes
}

#[test]
fn an_endpoint_has_one_lane_until_it_succeeds_and_again_when_it_fails() {
    let one = [alone(1)];
    let mut lanes = after(&one, Course::Well);
    let mut running = lanes.choose(waiting(&one));
    assert_eq!(running.len(), 4);
    assert_eq!(lanes.free(), 60);
    lanes.finish(running.remove(0), Course::Failed);
    lanes.finish(running.remove(0), Course::Failed);
    assert!(lanes.choose(waiting(&one)).is_empty(), "two are still in flight");
    for lane in running {
        lanes.finish(lane, Course::Failed);
    }
    assert_eq!(lanes.choose(waiting(&one)).len(), 1);
}

#[test]
fn a_slow_response_does_not_prove_an_endpoint() {
    let one = [alone(1)];
    assert_eq!(
        after(&one, Course::of(true, 4_999)).choose(waiting(&one)).len(),
        4
    );
    assert_eq!(
        after(&one, Course::of(true, 5_000)).choose(waiting(&one)).len(),
        1
    );
    assert_eq!(after(&one, Course::of(false, 1)).choose(waiting(&one)).len(), 1);
}

#[test]
fn failing_endpoints_come_last_and_have_half_of_the_lanes() {
    let failed: Vec<_> = (0..100).map(alone).collect();
    let fresh: Vec<_> = (100..110).map(alone).collect();
    let mut lanes = after(&failed, Course::Slow);
    let mut both = waiting(&failed);
    both.extend(fresh.iter().map(|endpoint| due(endpoint, 1_000)));
    let chosen = lanes.choose(both);
    let first: Vec<_> = chosen
        .iter()
        .take(10)
        .map(|lane| lane.endpoint().clone())
        .collect();
    assert_eq!(first, fresh);
    assert_eq!(chosen.len(), 10 + Lanes::FAILING_MAX);
}

#[test]
fn failing_endpoints_take_turns() {
    let failed: Vec<_> = (0..64).map(alone).collect();
    let mut lanes = after(&failed, Course::Failed);
    // The deliveries to the first endpoints always have the earliest due times.
    let by_number = || {
        (0..)
            .zip(&failed)
            .map(|(at, endpoint)| due(endpoint, at))
            .collect()
    };
    for turn in [&failed[..32], &failed[32..], &failed[..32]] {
        let chosen = lanes.choose(by_number());
        let endpoints: Vec<_> = chosen.iter().map(|lane| lane.endpoint().clone()).collect();
        assert_eq!(endpoints, turn);
        for lane in chosen {
            lanes.finish(lane, Course::Failed);
        }
    }
}

#[test]
fn a_host_and_an_organization_have_few_lanes_for_failing_endpoints() {
    let at_one_host: Vec<_> = (0..40).map(|number| endpoint(number, number, 7)).collect();
    let of_one_organization: Vec<_> = (0..40).map(|number| endpoint(number, 7, number)).collect();
    for many in [&at_one_host, &of_one_organization] {
        assert_eq!(after(many, Course::Slow).choose(waiting(many)).len(), 8);
    }
    let well = after(&of_one_organization, Course::Well).choose(waiting(&of_one_organization));
    assert_eq!(well.len(), Lanes::OF_ORGANIZATION_MAX);
    let well = after(&at_one_host, Course::Well).choose(waiting(&at_one_host));
    assert_eq!(
        well.len(),
        Lanes::IN_FLIGHT_MAX,
        "many share the host of a large service"
    );
}

#[test]
fn an_organization_with_slow_endpoints_leaves_lanes_to_others_at_once() {
    // Twenty webhooks in each of its five projects, none tried yet.
    let slow: Vec<_> = (0..100).map(|number| endpoint(number, 1, number)).collect();
    let other = [endpoint(200, 2, 200), endpoint(201, 2, 201)];
    let mut lanes = Lanes::default();
    let running = lanes.choose(waiting(&slow));
    assert_eq!(running.len(), Lanes::OF_ORGANIZATION_MAX);
    assert_eq!(lanes.choose(waiting(&other)).len(), other.len());
}

#[test]
fn among_equals_the_organizations_with_the_fewest_attempts_in_flight_come_first() {
    let many: Vec<_> = (0..40).map(|number| endpoint(number, 1, number)).collect();
    let one = endpoint(100, 2, 100);
    let both = || {
        let mut both = waiting(&many);
        both.push(due(&one, 1_000));
        both
    };
    let second = |lanes: &mut Lanes| lanes.choose(both()).swap_remove(1);
    assert_eq!(*second(&mut Lanes::default()).endpoint(), one);
    let mut lanes = Lanes::default();
    let running = lanes.choose(waiting(&many));
    assert_eq!(*lanes.choose(both())[0].endpoint(), one);
    assert_eq!(running.len(), Lanes::OF_ORGANIZATION_MAX);
    // An attempt at a neighbour that is well takes nothing from what fails.
    let mut all = many.clone();
    all.push(one.clone());
    assert_eq!(*second(&mut after(&all, Course::Failed)).endpoint(), one);
}

#[test]
fn proven_endpoints_always_have_lanes() {
    let proven: Vec<_> = (0..10).map(alone).collect();
    let mut lanes = after(&proven, Course::Well);
    let new: Vec<_> = (100..200).map(alone).collect();
    assert_eq!(lanes.choose(waiting(&new)).len(), Lanes::UNPROVEN_MAX);
    assert_eq!(lanes.choose(waiting(&proven)).len(), 16);
    assert_eq!(lanes.free(), 0);
}

#[test]
fn a_webhook_with_a_new_host_is_untried() {
    let mut lanes = after(&[endpoint(1, 1, 1)], Course::Slow);
    assert_eq!(lanes.standing(&endpoint(1, 1, 1)), Standing::Failing);
    assert_eq!(lanes.standing(&endpoint(1, 1, 2)), Standing::Untried);
    let lane = lanes.choose(waiting(&[endpoint(1, 1, 2)])).remove(0);
    lanes.cancel(&lane);
    assert_eq!(lanes.free(), 64);
    assert_eq!(
        lanes.standing(&endpoint(1, 1, 2)),
        Standing::Untried,
        "no attempt was made"
    );
}

#[test]
fn memory_is_bounded() {
    for course in [Course::Well, Course::Failed, Course::Slow] {
        let mut lanes = Lanes::default();
        let in_flight = lanes.choose(waiting(&[alone(1_000_000)]));
        for number in 0..40_000 {
            let lane = lanes.choose(waiting(&[alone(number)])).remove(0);
            lanes.finish(lane, course);
            assert!(lanes.endpoints.len() <= Lanes::ENDPOINTS_MAX);
            assert!(lanes.failing_of_host.is_empty());
        }
        assert_eq!(
            (in_flight.len(), lanes.free(), lanes.organizations.len()),
            (1, 63, 1)
        );
    }
}

/// A simulation in which hanging endpoints hold their lane for [`Self::HANGING_SECONDS`], others for one second.
struct World {
    lanes: Lanes,
    running: Vec<(Lane, u32)>,
    first_attempts: BTreeMap<String, u32>,
}

impl World {
    const HANGING_SECONDS: u32 = 15;

    fn second(&mut self, now: u32, ready: Vec<Waiting>, hanging: &[Endpoint]) {
        let (over, running) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|(_, end)| *end <= now);
        self.running = running;
        for (lane, _) in over {
            let is_hanging = hanging.contains(lane.endpoint());
            self.lanes
                .finish(lane, if is_hanging { Course::Slow } else { Course::Well });
        }
        for lane in self.lanes.choose(ready) {
            let is_hanging = hanging.contains(lane.endpoint());
            let seconds = if is_hanging { Self::HANGING_SECONDS } else { 1 };
            let webhook_id = lane.endpoint().webhook_id.clone();
            self.first_attempts.entry(webhook_id).or_insert(now);
            self.running.push((lane, now + seconds));
        }
    }
}

/// The time of the first attempt at a fresh endpoint, which has a delivery due from `begins_at` on. The hanging
/// endpoints beside it, with these organizations and hosts, always have one due.
fn first_attempt_beside(places: &[(usize, usize)], begins_at: u32) -> Option<u32> {
    let hanging: Vec<_> = (0..)
        .zip(places)
        .map(|(number, (organization, host))| endpoint(number, *organization, *host))
        .collect();
    let fresh = endpoint(1_000, 1_000, 1_000);
    let mut world = World {
        lanes: Lanes::default(),
        running: Vec::new(),
        first_attempts: BTreeMap::new(),
    };
    for now in 0..=begins_at + 6 * World::HANGING_SECONDS {
        let mut ready = waiting(&hanging);
        if now >= begins_at {
            // The deliveries to hanging endpoints always have earlier due times.
            ready.push(due(&fresh, 1_000));
        }
        world.second(now, ready, &hanging);
    }
    let begun_at = world.first_attempts.get(&fresh.webhook_id).copied();
    assert!(begun_at.is_some(), "the fresh endpoint is attempted");
    begun_at
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn sixty_four_endpoints_that_hang_delay_a_fresh_one_by_one_round_at_most(
        places in prop::collection::vec((0usize..80, 0usize..80), 64), begins_at in 0u32..100,
    ) {
        let begun_at = first_attempt_beside(&places, begins_at);
        prop_assert!(begun_at <= Some(begins_at + World::HANGING_SECONDS), "{begun_at:?}");
    }

    #[test]
    fn endpoints_that_hang_delay_a_fresh_one_until_each_was_tried_once_at_most(
        places in prop::collection::vec((0usize..80, 0usize..80), 64..200), begins_at in 0u32..100,
    ) {
        // An endpoint is not known to hang before its first attempt has ended.
        let rounds = 1 + places.len().div_ceil(Lanes::UNPROVEN_MAX) as u32;
        let latest = begins_at.max(rounds * World::HANGING_SECONDS);
        let begun_at = first_attempt_beside(&places, begins_at);
        prop_assert!(begun_at <= Some(latest), "{begun_at:?} instead of {latest}");
    }

    #[test]
    fn no_limit_is_ever_passed_and_everything_given_back_is_free(
        steps in prop::collection::vec((0usize..30, 0usize..4, 0usize..4, 0u8..4), 0..400),
    ) {
        let (mut lanes, mut running) = (Lanes::default(), Vec::<Lane>::new());
        for (webhook, organization, host, step) in steps {
            match step {
                0 | 1 => running.extend(lanes.choose(waiting(&[endpoint(webhook, organization, host)]))),
                _ if running.is_empty() => {}
                2 => {
                    let lane = running.swap_remove(webhook % running.len());
                    lanes.finish(lane, [Course::Well, Course::Failed, Course::Slow, Course::Well][host]);
                }
                _ => {
                    let lane = running.swap_remove(webhook % running.len());
                    lanes.cancel(&lane);
                }
            }
            let failing = |lane: &&Lane| lane.standing == Standing::Failing;
            let count = |which: &dyn Fn(&&Lane) -> bool| running.iter().filter(which).count();
            prop_assert_eq!(lanes.free(), Lanes::IN_FLIGHT_MAX - running.len());
            prop_assert!(count(&failing) <= Lanes::FAILING_MAX);
            prop_assert!(count(&|lane| lane.standing != Standing::Proven) <= Lanes::UNPROVEN_MAX);
            for lane in &running {
                let own = lane.endpoint();
                let of_organization = |other: &&Lane| other.endpoint.organization_id == own.organization_id;
                prop_assert!(count(&of_organization) <= Lanes::OF_ORGANIZATION_MAX);
                prop_assert!(count(&|other| of_organization(other) && failing(other)) <= Lanes::FAILING_OF_ORGANIZATION_MAX);
                prop_assert!(count(&|other| other.endpoint.host == own.host && failing(other)) <= 8);
                prop_assert!(count(&|other| other.endpoint == *own) <= Lanes::PROVEN_MAX);
            }
        }
        for lane in running.drain(..) {
            lanes.cancel(&lane);
        }
        prop_assert_eq!((lanes.free(), lanes.unproven, lanes.failing, lanes.organizations.len()), (64, 0, 0, 0));
    }
}
