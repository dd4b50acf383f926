# Files compiled for one instruction set each: name_generic.c, name_avx2.c, name_avx512.c.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    set(SG_X86 ON)
else()
    set(SG_X86 OFF)
endif()
target_compile_definitions(sg_compiler INTERFACE SG_HAVE_X86_KERNELS=$<BOOL:${SG_X86}>)

# A build can be held to less than the processor has, as if it ran on a lesser one: ./dev test isa
set(SG_MAX_ISA "" CACHE STRING "The highest instruction set to use: generic, avx2 or avx512; empty: the best there is")
set_property(CACHE SG_MAX_ISA PROPERTY STRINGS "" generic avx2 avx512)
if(NOT SG_MAX_ISA MATCHES "^(generic|avx2|avx512|)$")
    message(FATAL_ERROR "SG_MAX_ISA is '${SG_MAX_ISA}'; it must be generic, avx2, avx512 or empty")
endif()

set(SG_AVX2_FLAGS -mavx2 -mfma)
set(SG_AVX512_FLAGS -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512)

# sg_isa_sources(OUT STEM): the files of STEM_*.c that this target builds, with their flags set.
function(sg_isa_sources out stem)
    # The vectors never cross a function that is not inlined, so the ABI's word on them is moot.
    set(files ${stem}_generic.c)
    set_source_files_properties(${stem}_generic.c PROPERTIES COMPILE_OPTIONS -Wno-psabi)
    if(SG_X86)
        list(APPEND files ${stem}_avx2.c ${stem}_avx512.c)
        set_source_files_properties(${stem}_avx2.c PROPERTIES COMPILE_OPTIONS "-Wno-psabi;${SG_AVX2_FLAGS}")
        set_source_files_properties(${stem}_avx512.c PROPERTIES COMPILE_OPTIONS "-Wno-psabi;${SG_AVX512_FLAGS}")
    endif()
    if(SG_FUZZ AND NOT stem MATCHES "^expr/") # a file's bytes choose no path in these; unwatched they compile in minutes less
        set_property(SOURCE ${files} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=all)
    endif()
    set(${out} ${files} PARENT_SCOPE)
endfunction()
