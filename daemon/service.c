// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* org.varlink.service: what every Varlink service says about itself. */
#include <string.h>

#include "conn.h"

#define SERVICE "org.varlink.service"

static const char service_description[] =
	"interface " SERVICE "\n"
	"\n"
	"method GetInfo() -> (\n"
	"  vendor: string,\n"
	"  product: string,\n"
	"  version: string,\n"
	"  url: string,\n"
	"  interfaces: []string\n"
	")\n"
	"\n"
	"method GetInterfaceDescription(interface: string) -> (description: string)\n"
	"\n"
	"error InterfaceNotFound(interface: string)\n"
	"error MethodNotFound(method: string)\n"
	"error MethodNotImplemented(method: string)\n"
	"error InvalidParameter(parameter: string)\n"
	"error PermissionDenied()\n"
	"error ExpectedMore()\n";

static void info(struct gp_control *c, struct gp_conn *conn)
{
	const char *version = c->args.version ? c->args.version : "";

	gp_conn_answer(conn, json_pack("{s:s, s:s, s:s, s:s, s:[s, s]}", "vendor", "gpreempt",
				       "product", "gpreemptd", "version", version, "url", "",
				       "interfaces", SERVICE, GP_INTERFACE));
}

static void describe(struct gp_conn *conn, const json_t *parameters)
{
	const char *which = json_string_value(json_object_get(parameters, "interface"));

	if (!which)
		gp_conn_error(conn, SERVICE ".InvalidParameter",
			      json_pack("{s:s}", "parameter", "interface"));
	else if (!strcmp(which, GP_INTERFACE))
		gp_conn_answer(conn, json_pack("{s:s}", "description", gp_varlink_description));
	else if (!strcmp(which, SERVICE))
		gp_conn_answer(conn, json_pack("{s:s}", "description", service_description));
	else
		gp_conn_error(conn, SERVICE ".InterfaceNotFound",
			      json_pack("{s:s}", "interface", which));
}

/* Is @method @interface and one more part? */
static bool of(const char *method, const char *interface)
{
	size_t n = strlen(interface);

	return !strncmp(method, interface, n) && method[n] == '.' && !strchr(method + n + 1, '.');
}

bool gp_service_call(struct gp_control *c, struct gp_conn *conn,
		     const struct gp_varlink_call *call)
{
	const char *dot = strrchr(call->method, '.');
	size_t n = dot ? (size_t)(dot - call->method) : strlen(call->method);

	if (of(call->method, GP_INTERFACE))
		return false;
	if (!strcmp(call->method, SERVICE ".GetInfo"))
		info(c, conn);
	else if (!strcmp(call->method, SERVICE ".GetInterfaceDescription"))
		describe(conn, call->parameters);
	else if (of(call->method, SERVICE))
		gp_conn_error(conn, SERVICE ".MethodNotFound",
			      json_pack("{s:s}", "method", call->method));
	else
		gp_conn_error(conn, SERVICE ".InterfaceNotFound",
			      json_pack("{s:s%}", "interface", call->method, n));
	return true;
}
