import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.EventsApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.*;

/** Uses the client that openapi-generator makes for Java. Arguments: URL, project key, master key. */
public class Use {
  static final String TENANT = "generated-java";

  static void check(boolean isRight, Object what) {
    if (!isRight) throw new AssertionError(what);
  }

  static ApiClient client(String url, String key) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(url);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
    return client;
  }

  static EventInput event(String action) {
    ActorInput actor = new ActorInput().id("user_1").type(ActorType.USER);
    return new EventInput().action(action).category(EventCategory.MUTATION).tenantId(TENANT).actor(actor);
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient client = client(arguments[0], arguments[1]);
    EventsApi events = new EventsApi(client);
    EventInput single = event("user.created").metadata(Map.of("plan", "pro"));
    check(events.ingestEvents(new EventsInput(single), null, null, null, null).getIds().size() == 1, "one");
    EventBatch batch = new EventBatch();
    batch.addAll(Collections.nCopies(5, event("user.updated")));
    check(events.ingestEvents(new EventsInput(batch), null, null, null, null).getIds().size() == 5, "batch");

    OffsetDateTime now = OffsetDateTime.now();
    List<StoredEvent> found = new ArrayList<>();
    String cursor = null;
    do {
      EventPage page =
          events.listEvents(
              null, null, null, null, cursor, now.plusDays(1), null, null, 2, null, null, null, null, null, null, null, null, null, null, null,
              null, null, null, null, null, now.minusDays(1), null, null, List.of(TENANT), null, null);
      found.addAll(page.getEvents());
      cursor = page.getCursor();
    } while (cursor != null);
    check(found.size() == 6, found.size());
    check("user_1".equals(found.get(0).getActor().getId()), found.get(0));

    try {
      events.getEvent("evt_00000000000000000000000000", null, null);
      throw new AssertionError("an event that does not exist was found");
    } catch (ApiException error) {
      ObjectMapper mapper = client.getObjectMapper();
      ErrorResponse response = mapper.readValue(error.getResponseBody(), ErrorResponse.class);
      check(error.getCode() == 404 && response.getError().getCode() == ErrorCode.NOT_FOUND, response);
    }

    WebhooksApi webhooks = new WebhooksApi(client(arguments[0], arguments[2]));
    WebhookInput input = new WebhookInput().url("https://example.com/hook");
    check(webhooks.createWebhook(input, null, null).getWebhook().getSecret().startsWith("whsec_"), "webhook");
    System.out.println("java: ok");
  }
}
