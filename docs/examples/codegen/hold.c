/*
 * Holds an arm where it starts, by computed torque: a program for `mbcli simulate --controller`.
 *
 *     mbcli codegen sample_models/arm7.urdf -o arm
 *     cc -std=c99 -O2 -Iarm docs/examples/codegen/hold.c arm/arm7.c -lm -o hold
 *     mbcli simulate sample_models/arm7.urdf --no-contact --dt 0.0001 --controller ./hold --controller-rate 10000
 *
 * arm7_inverse_dynamics() is generated; each line of standard input is a state, each line of standard output its efforts.
 */
#include "arm7.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KP 400.0 /* [1/s^2] */
#define KD 40.0  /* [1/s] */

/* the numbers of a list of a JSON object; 0 if there are fewer */
static int read_list(const char *line, const char *name, double *values, int count)
{
    const char *at = strstr(line, name);
    int i;
    at = (at == NULL) ? NULL : strchr(at, '[');
    for (i = 0; at != NULL && i < count; i++) {
        char *end;
        values[i] = strtod(at + 1, &end);
        at = (end == at + 1) ? NULL : end;
    }
    return at != NULL;
}

int main(void)
{
    static char line[65536];
    double q[ARM7_NQ], v[ARM7_NV], goal[ARM7_NQ], vdot[ARM7_NV], tau[ARM7_NV];
    int i, started = 0;
    if (fgets(line, sizeof line, stdin) == NULL) {
        return 1;
    }
    puts("{\"ready\": true}");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strstr(line, "\"save\"") != NULL) {
            puts("{\"state\": null}");
        } else if (read_list(line, "\"q\"", q, ARM7_NQ) && read_list(line, "\"v\"", v, ARM7_NV)) {
            for (i = 0; i < ARM7_NV; i++) {
                goal[i] = started ? goal[i] : q[i];
                vdot[i] = KP * (goal[i] - q[i]) - KD * v[i];
            }
            started = 1;
            arm7_inverse_dynamics(q, v, vdot, tau);
            for (i = 0; i < ARM7_NV; i++) {
                printf("%s%.17g", (i == 0) ? "{\"u\": [" : ", ", tau[i]);
            }
            puts("]}");
        } else {
            return 2;
        }
        fflush(stdout);
    }
    return 0;
}
