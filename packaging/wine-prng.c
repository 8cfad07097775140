/* bcryptprimitives.dll for wine before 9, which lacks it. Programs of Rust take their random numbers there. Only tests use this. */
#include <stddef.h>
__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *buffer, unsigned long size);
__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *buffer, size_t size) {
    return SystemFunction036(buffer, (unsigned long)size);
}
