// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The wire format: messages in pieces of any size, and invalid messages. */
#include "tests/shared/gp_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/varlink.h"

static const char three[] =
	"{\"method\":\"a.B\",\"parameters\":{\"x\":[1,2,{\"y\":\"}]\"}]}}\0"
	"{}\0"
	"{\"method\":\"a.C\",\"more\":true,\"oneway\":null}";

static struct gp_varlink_reader reader(size_t max)
{
	return (struct gp_varlink_reader){ .max = max };
}

enum { TEXT = 512 };

/* Appends all available messages as text, one per line, to @to of TEXT bytes. */
static void drain(struct gp_varlink_reader *r, char *to)
{
	size_t n = strlen(to);
	json_t *message;
	char *text;

	while (!gp_varlink_next(r, &message)) {
		text = json_dumps(message, JSON_COMPACT);
		n += (size_t)snprintf(to + n, TEXT - n, "%s\n", text);
		free(text);
		json_decref(message);
	}
}

static void messages_do_not_depend_on_how_they_are_cut(void **state)
{
	char whole[TEXT] = "", parts[TEXT];
	struct gp_varlink_reader r = reader(4096);
	size_t i, j, n = sizeof(three);

	(void)state;
	EXPECT_EQ(gp_varlink_feed(&r, three, n), 0);
	drain(&r, whole);
	gp_varlink_reader_fini(&r);
	for (i = 0; i <= n; i++) {
		for (j = i; j <= n; j++) {
			parts[0] = '\0';
			r = reader(4096);
			EXPECT_EQ(gp_varlink_feed(&r, three, i), 0);
			drain(&r, parts);
			EXPECT_EQ(gp_varlink_feed(&r, three + i, j - i), 0);
			drain(&r, parts);
			EXPECT_EQ(gp_varlink_feed(&r, three + j, n - j), 0);
			drain(&r, parts);
			assert_string_equal(whole, parts);
			EXPECT_EQ(gp_varlink_partial(&r), 0);
			gp_varlink_reader_fini(&r);
		}
	}
}

static void the_longest_message_fits_and_one_byte_more_does_not(void **state)
{
	enum { MAX = 64 };
	struct gp_varlink_reader r;
	char text[MAX + 2];
	json_t *message;
	int longer;

	(void)state;
	for (longer = 0; longer < 2; longer++) {
		memset(text, ' ', sizeof(text));
		memcpy(text, "{}", 2);
		text[MAX + longer] = '\0';
		r = reader(MAX);
		EXPECT_EQ(gp_varlink_feed(&r, text, MAX + longer + 1), longer ? -EMSGSIZE : 0);
		if (!longer) {
			EXPECT_EQ(gp_varlink_next(&r, &message), 0);
			json_decref(message);
		}
		gp_varlink_reader_fini(&r);
		/* A message that is too long is refused before its end arrives. */
		r = reader(MAX);
		EXPECT_EQ(gp_varlink_feed(&r, text, MAX + longer), longer ? -EMSGSIZE : 0);
		gp_varlink_reader_fini(&r);
	}
}

static void a_long_message_behind_a_good_one_is_refused_too(void **state)
{
	struct gp_varlink_reader r = reader(16);
	static const char text[] = "{}\0{\"a\":\"0123456789abcdef\"}";
	json_t *message;

	(void)state;
	gp_varlink_feed(&r, text, sizeof(text));
	EXPECT_EQ(gp_varlink_next(&r, &message), 0);
	json_decref(message);
	EXPECT_EQ(gp_varlink_next(&r, &message), -EBADMSG);
	EXPECT_EQ(gp_varlink_next(&r, &message), -EAGAIN);
	gp_varlink_reader_fini(&r);
}

static int nested(int depth, const char *inside)
{
	char open[32] = "", shut[32] = "", text[256];
	json_t *message;
	int err;

	memset(open, '[', (size_t)depth - 1);
	memset(shut, ']', (size_t)depth - 1);
	snprintf(text, sizeof(text), "{\"a\":%s%s%s}", open, inside, shut);
	err = gp_varlink_parse(text, strlen(text), 0, &message);
	if (!err)
		json_decref(message);
	return err;
}

static void nesting_has_a_limit_and_brackets_in_texts_do_not_count(void **state)
{
	(void)state;
	EXPECT_EQ(nested(GP_VARLINK_DEPTH_MAX, "1"), 0);
	EXPECT_EQ(nested(GP_VARLINK_DEPTH_MAX + 1, "1"), -EBADMSG);
	EXPECT_EQ(nested(GP_VARLINK_DEPTH_MAX, "\"[[[[{{{{\\\"[[[[\""), 0);
}

static void values_have_a_limit(void **state)
{
	static const char three_values[] = "{\"a\":[1,2]}", text[] = "{\"a\":\",,,[[[\"}";
	json_t *message;

	(void)state;
	EXPECT_EQ(gp_varlink_parse(three_values, strlen(three_values), 2, &message), -EBADMSG);
	EXPECT_EQ(gp_varlink_parse(three_values, strlen(three_values), 3, &message), 0);
	json_decref(message);
	EXPECT_EQ(gp_varlink_parse(text, strlen(text), 1, &message), 0);
	json_decref(message);
}

static void what_is_no_message_is_skipped_and_the_next_is_read(void **state)
{
	static const char *const bad[] = {
		"", " ", "{", "}", "[]", "1", "null", "\"a\"", "{\"a\":1,\"a\":2}", "{\"a\":}",
		"{\"a\":1}x", "{'a':1}", "{\"a\":\"\xff\"}", "{\"a\":\"\\u0000\"}",
		"{\"a\":99999999999999999999}", "{\"a\":1e999}", "{\"a\":\"\\ud800\"}",
	};
	struct gp_varlink_reader r = reader(4096);
	json_t *message;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(gp_varlink_feed(&r, bad[i], strlen(bad[i]) + 1), 0);
		EXPECT_EQ(gp_varlink_feed(&r, "{}", 3), 0);
		EXPECT_EQ(gp_varlink_next(&r, &message), -EBADMSG);
		EXPECT_EQ(gp_varlink_next(&r, &message), 0);
		json_decref(message);
	}
	gp_varlink_reader_fini(&r);
}

static void a_call_has_a_method_and_flags_that_are_flags(void **state)
{
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{ "{\"method\":\"a.B\"}", 0 },
		{ "{\"method\":\"a.B\",\"parameters\":{},\"more\":true}", 0 },
		{ "{\"method\":\"a.B\",\"parameters\":null,\"more\":false}", 0 },
		{ "{}", -EBADMSG },
		{ "{\"method\":1}", -EBADMSG },
		{ "{\"method\":\"a.B\",\"parameters\":[]}", -EBADMSG },
		{ "{\"method\":\"a.B\",\"more\":1}", -EBADMSG },
		{ "{\"method\":\"a.B\",\"oneway\":\"yes\"}", -EBADMSG },
	};
	struct gp_varlink_call call;
	json_t *message;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		EXPECT_EQ(gp_varlink_parse(cases[i].text, strlen(cases[i].text), 0,
					   &message), 0);
		EXPECT_EQ(gp_varlink_call(message, &call), cases[i].err);
		json_decref(message);
	}
}

static void what_waits_to_be_sent_is_bounded(void **state)
{
	struct gp_varlink_writer w = { .max = 100 };
	char text[60] = "", got[128];
	int pair[2];

	(void)state;
	memset(text, 'a', sizeof(text));
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	EXPECT_EQ(gp_varlink_put(&w, text, 60), 0);
	EXPECT_EQ(gp_varlink_put(&w, text, 41), -ENOBUFS);
	EXPECT_EQ(gp_varlink_unsent(&w), 60);
	EXPECT_EQ(gp_varlink_put(&w, text, 40), 0);
	EXPECT_EQ(gp_varlink_flush(&w, pair[0]), 100);
	EXPECT_EQ(gp_varlink_flush(&w, pair[0]), 0);
	EXPECT_EQ(read(pair[1], got, sizeof(got)), 100);
	close(pair[1]);
	EXPECT_EQ(gp_varlink_put(&w, text, 40), 0);
	EXPECT_EQ(gp_varlink_flush(&w, pair[0]), -EPIPE);
	close(pair[0]);
	gp_varlink_writer_fini(&w);
}

static void errors_come_back_as_they_went(void **state)
{
	static const int same[] = { EPERM, ESRCH, EINVAL, EBUSY, ENOSPC, ETIMEDOUT, EOPNOTSUPP };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		EXPECT_EQ(gp_varlink_error_number(gp_varlink_error_name(same[i])), same[i]);
	assert_string_equal(gp_varlink_error_name(12345), "org.gpreempt.Failed");
	EXPECT_EQ(gp_varlink_error_number("io.example.Odd"), EREMOTEIO);
}

PROVE(
	CLAIM(messages_do_not_depend_on_how_they_are_cut),
	CLAIM(the_longest_message_fits_and_one_byte_more_does_not),
	CLAIM(a_long_message_behind_a_good_one_is_refused_too),
	CLAIM(nesting_has_a_limit_and_brackets_in_texts_do_not_count),
	CLAIM(values_have_a_limit),
	CLAIM(what_is_no_message_is_skipped_and_the_next_is_read),
	CLAIM(a_call_has_a_method_and_flags_that_are_flags),
	CLAIM(what_waits_to_be_sent_is_bounded),
	CLAIM(errors_come_back_as_they_went),
)
