// Uses the client that openapi-generator makes for Go. Arguments: URL, project key, master key.
package main

import (
	"auditlog"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

const tenant = "generated-go"

func check(isRight bool, what ...interface{}) {
	if !isRight {
		panic(fmt.Sprint(what...))
	}
}

func client(url string) *auditlog.APIClient {
	configuration := auditlog.NewConfiguration()
	configuration.Servers = auditlog.ServerConfigurations{{URL: url}}
	return auditlog.NewAPIClient(configuration)
}

func event(action string) auditlog.EventInput {
	actor := auditlog.NewActorInput("user_1", auditlog.USER)
	return *auditlog.NewEventInput(action, *actor, auditlog.MUTATION, tenant)
}

func main() {
	url, projectKey, masterKey := os.Args[1], os.Args[2], os.Args[3]
	api := client(url)
	project := context.WithValue(context.Background(), auditlog.ContextAccessToken, projectKey)
	master := context.WithValue(context.Background(), auditlog.ContextAccessToken, masterKey)

	single := event("user.created")
	one, _, err := api.EventsAPI.IngestEvents(project).EventsInput(auditlog.EventInputAsEventsInput(&single)).Execute()
	check(err == nil && len(one.Ids) == 1, err)
	batch := []auditlog.EventInput{}
	for len(batch) < 5 {
		batch = append(batch, event("user.updated"))
	}
	five, _, err := api.EventsAPI.IngestEvents(project).EventsInput(auditlog.ArrayOfEventInputAsEventsInput(&batch)).Execute()
	check(err == nil && len(five.Ids) == 5, err)

	now, found, cursor := time.Now(), 0, ""
	for {
		request := api.EventsAPI.ListEvents(project).TenantId([]string{tenant}).Limit(2)
		request = request.StartDate(now.Add(-24 * time.Hour)).EndDate(now.Add(24 * time.Hour))
		if cursor != "" {
			request = request.Cursor(cursor)
		}
		page, _, err := request.Execute()
		check(err == nil, err)
		found += len(page.Events)
		next := page.Cursor.Get()
		if next == nil {
			break
		}
		cursor = *next
	}
	check(found == 6, found)

	_, _, err = api.EventsAPI.GetEvent(project, "evt_00000000000000000000000000").Execute()
	var failed *auditlog.GenericOpenAPIError
	check(errors.As(err, &failed), err)
	response, isTyped := failed.Model().(auditlog.ErrorResponse)
	check(isTyped && response.Error.Code == auditlog.NOT_FOUND, failed.Model())

	webhook := auditlog.NewWebhookInput("https://example.com/hook")
	made, _, err := api.WebhooksAPI.CreateWebhook(master).WebhookInput(*webhook).Execute()
	check(err == nil && strings.HasPrefix(made.Webhook.Secret, "whsec_"), err)
	fmt.Println("go: ok")
}
